"""Random graphs for the benchmarks, made by whole-array operations."""

import numpy as np
from scipy.sparse import csr_array


def power_law_graph(n_nodes: int, n_edges: int, rng: np.random.Generator) -> csr_array:
    """Directed graph without weights whose out- and in-degrees follow power laws.

    Out-degrees have a density like d^-2.3, up to a tenth of the nodes, and the k-th most
    popular node is linked to in proportion to k^-0.6. No edge occurs twice.
    """
    if not 0 < n_edges <= n_nodes**2 // 20:
        raise ValueError(f"n_edges={n_edges} should be 1 to {n_nodes**2 // 20} for {n_nodes} nodes")
    sizes = (1.0 - rng.random(n_nodes)) ** (-1.0 / 1.3)
    popular = rng.permutation(n_nodes)
    keys = np.empty(0, dtype=np.int64)
    while keys.size < n_edges:  # duplicate edges are dropped, so more may have to be drawn
        wanted = 1.3 * (n_edges - keys.size) + 10
        expected = np.minimum(sizes * (wanted / sizes.sum()), n_nodes / 10)  # [n]
        degrees = np.floor(expected + rng.random(n_nodes)).astype(np.int64)
        sources = np.repeat(np.arange(n_nodes), degrees)
        targets = popular[(n_nodes * rng.random(sources.size) ** 2.5).astype(np.int64)]
        keys = np.sort(np.concatenate((keys, sources * n_nodes + targets)))
        keys = keys[np.append(True, keys[1:] > keys[:-1])]
    keys = np.delete(keys, rng.choice(keys.size, keys.size - n_edges, replace=False))
    indptr = np.searchsorted(keys, np.arange(n_nodes + 1) * n_nodes)
    data, indices = np.ones(n_edges), (keys % n_nodes).astype(np.int32)
    return csr_array((data, indices, indptr.astype(np.int32)), shape=(n_nodes, n_nodes))
