"""Positions of nodes: computed once by igraph, and cached in the user's cache folder."""

import hashlib
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pooch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._files import write_file

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# To be changed with the algorithm, so that cached layouts are not reused.
_VERSION = "fr2"
_FEW_NODES = 2000
# Space between communities, relative to the space that they need.
_SPREAD = 1.15
_MAX_PLACED = 200  # communities; the smaller ones are placed together


def find_layout(adjacency: csr_array, *, cache: Path | None = None) -> Floats:
    """Return positions of the nodes of a graph, (n, 2), within the unit square.

    They are the same for the same graph. They are cached in a file; a damaged file is replaced.
    """
    edges = list_edges(adjacency)
    n = adjacency.shape[0]
    # Graphs with the same edges share a file.
    digest = hashlib.sha256(f"{_VERSION} {n} ".encode())
    digest.update(np.ascontiguousarray(edges, dtype="<i8").tobytes())
    folder = cache or Path(pooch.os_cache("gradraker")) / "layouts"
    file = folder / f"{digest.hexdigest()[:32]}.npy"
    cached = _read(file, n)
    if cached is not None:
        return cached
    positions = compute_layout(n, edges)
    with suppress(OSError):  # then it is computed again next time
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, lambda opened: np.save(opened, positions))
    return positions


def list_edges(adjacency: csr_array) -> Integers:
    """Return edges without directions and self loops, (m, 2): each once, the lower end first."""
    entries = adjacency.tocoo()
    ends = np.sort(np.stack(entries.coords, axis=1).astype(np.int64), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    n = adjacency.shape[0]
    numbers = np.unique(ends[:, 0] * n + ends[:, 1])
    return np.stack([numbers // n, numbers % n], axis=1)


def compute_layout(n: int, edges: Integers) -> Floats:
    """Compute positions with igraph."""
    if n == 1:
        return np.full((1, 2), 0.5)
    return _place_communities(n, edges) if n > _FEW_NODES else fit_square(_place(n, edges))


def _place(n: int, edges: Integers) -> Floats:
    """Place nodes by forces: edges attract, nodes repel."""
    igraph = load_igraph()
    igraph.set_random_number_generator(random.Random(0))
    graph = igraph.Graph(n=n, edges=edges)
    grid = n > _FEW_NODES or edges.size == 0
    found = graph.layout_fruchterman_reingold(grid=grid, niter=500 if n < 300 else 150)
    return np.array(found.coords).reshape(n, 2)


def _place_communities(n: int, edges: Integers) -> Floats:
    """Place communities by the edges between them, and the nodes of each around its centre.

    Forces alone would make an unreadable ball of a large graph.
    """
    members = np.minimum(find_communities(n, edges), _MAX_PLACED)
    sizes = np.bincount(members)
    ends = members[edges]
    inside = ends[:, 0] == ends[:, 1]
    between = np.unique(np.sort(ends[~inside], axis=1), axis=0)
    centres = fit_square(_place(sizes.size, between)) if sizes.size > 1 else np.full((1, 2), 0.5)
    radii = np.sqrt(sizes / n) / 2.0
    centres = _push_apart(centres * _SPREAD, radii)
    positions = np.empty((n, 2))
    place = np.empty(n, dtype=np.int64)
    for number in range(sizes.size):
        rows = np.flatnonzero(members == number)
        place[rows] = np.arange(rows.size)
        own = place[edges[inside & (ends[:, 0] == number)]]
        inner = fit_square(_place(rows.size, own)) - 0.5 if rows.size > 1 else np.zeros((1, 2))
        positions[rows] = centres[number] + 2.0 * radii[number] * inner
    return fit_square(positions)


def _push_apart(centres: Floats, radii: Floats) -> Floats:
    """Move discs until few of them overlap."""
    centres = centres.copy()
    need = radii[:, np.newaxis] + radii
    np.fill_diagonal(need, 0.0)
    for _ in range(200):
        gaps = centres[:, np.newaxis] - centres  # [k, k, 2]
        far = np.maximum(np.linalg.norm(gaps, axis=2), 1e-9)
        push = np.maximum(0.0, need - far) / far
        if not push.any():
            break
        centres += 0.2 * (gaps * push[:, :, np.newaxis]).sum(axis=1)
    return centres


def fit_square(positions: Floats) -> Floats:
    """Move and scale positions into the unit square; both axes by the same factor.

    A few outliers of a layout do not determine the scale.
    """
    low, high = np.quantile(positions, [0.005, 0.995], axis=0)
    span = float(max(*(high - low), 1e-12))
    scaled = (positions - (low + high) / 2.0) / span
    return np.asarray(0.5 + np.clip(scaled, -0.75, 0.75))


def load_igraph() -> Any:
    """Return igraph; the error explains how to install it."""
    try:
        import igraph
    except ImportError as error:
        raise ImportError(
            "the studio lays out graphs with igraph: pip install 'gradraker[studio]'"
        ) from error
    return igraph


def find_communities(n: int, edges: Integers) -> Integers:
    """Return the number of the community of each node; community 0 is the largest."""
    igraph = load_igraph()
    igraph.set_random_number_generator(random.Random(0))
    found = igraph.Graph(n=n, edges=edges).community_multilevel().membership
    members = np.array(found, dtype=np.int64)
    order = np.argsort(-np.bincount(members), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return np.asarray(rank[members])


def _read(file: Path, n: int) -> Floats | None:
    try:
        found = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_valid = found.shape == (n, 2) and found.dtype == np.float64 and np.isfinite(found).all()
    return found if is_valid else None
