"""A graph with a value at every node, and how its nodes are split."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gradraker._html import render_box, render_facts
from gradraker._validation import check_fraction, check_sparse
from gradraker.exceptions import ArgumentTypeError


@dataclass(frozen=True, repr=False, eq=False)
class GraphDataset:
    """A graph, one value per node, and where both come from.

    Arrays are copied and made read-only, so that no experiment can change the
    data of the next one.

    Parameters
    ----------
    adjacency : sparse or dense array of shape (n, n)
        Row i holds the weights of the edges out of node i. Stored as a
        ``csr_array`` of float64 with sorted columns; weights given twice for
        the same edge are added, edges of weight 0 are dropped.
    values : array-like of shape (n,)
        Value of every node.
    node_names : sequence of n str
        Names of the nodes, no two the same; default "0", "1", ...
    positions : array-like of shape (n, k), optional
        Where the nodes are, in the units that ``position_names`` say.
    position_names : sequence of k str
        One name per column of ``positions``, such as ``"altitude_m"``.
    name : str
        Short name of the data set.
    description : str
        What the nodes, edges and values are.
    licence : str
        Terms of use of the data, with the attribution they ask for.

    Examples
    --------
    >>> from gradraker.datasets import GraphDataset
    >>> data = GraphDataset([[0, 1], [0, 0]], [3.0, 5.0], ["a", "b"], name="Two nodes")
    >>> data
    GraphDataset('Two nodes', 2 nodes, 1 edges)
    >>> data.scale_values()
    array([0., 1.])
    """

    adjacency: sp.csr_array
    values: NDArray[np.float64]
    node_names: tuple[str, ...] = ()
    _: KW_ONLY
    name: str
    positions: NDArray[np.float64] | None = None
    position_names: tuple[str, ...] = ()
    description: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        adjacency = _check_adjacency(self.adjacency)
        n = adjacency.shape[0]
        # The class is frozen for its users; only here are fields replaced by their checked form.
        set_field = object.__setattr__
        set_field(self, "adjacency", adjacency)
        set_field(self, "values", _check_array("values", self.values, shape=(n,)))
        set_field(self, "node_names", _check_node_names(self.node_names, n=n))
        set_field(self, "position_names", tuple(self.position_names))
        if self.positions is not None:
            shape = (n, len(self.position_names))
            set_field(self, "positions", _check_array("positions", self.positions, shape=shape))
        elif self.position_names:
            raise ValueError(
                f"position_names is {self.position_names}, but positions is None: give both or none"
            )

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_names)

    @property
    def n_edges(self) -> int:
        """Number of directed edges: an undirected edge counts twice, a self loop once."""
        return int(self.adjacency.nnz)

    def scale_values(self) -> NDArray[np.float64]:
        """Values moved and scaled to [0, 1] over all nodes; all 0 if they are all equal."""
        low, high = float(self.values.min()), float(self.values.max())
        if low == high:
            return np.zeros_like(self.values)
        return (self.values - low) / (high - low)

    def _repr_html_(self) -> str:
        facts: list[tuple[str, object]] = [
            ("Nodes", self.n_nodes),
            ("Edges", self.n_edges),
            ("Values", f"{self.values.min():.4g} to {self.values.max():.4g}"),
        ]
        facts += [("What", self.description)] if self.description else []
        facts += [("Licence", self.licence)] if self.licence else []
        return render_box(self.name, render_facts(facts))

    def __repr__(self) -> str:
        return f"GraphDataset({self.name!r}, {self.n_nodes} nodes, {self.n_edges} edges)"


def split_nodes(
    n: int, fraction: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw ``round(fraction * n)`` of n nodes uniformly: their values are known, others unknown.

    Parameters
    ----------
    n : int
        Number of nodes.
    fraction : float
        Part of the nodes to draw, between 0 and 1; the paper draws 0.4.
    rng : numpy.random.Generator
        Source of the draw.

    Returns
    -------
    known, unknown : int arrays
        Node numbers in the order drawn. Together they hold every node once.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.datasets import load_temperature, split_nodes
    >>> data = load_temperature()
    >>> known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))

    The known nodes are also the nodes that adjacency vectors refer to:

    >>> X_train = data.adjacency[known][:, known]
    >>> X_test = data.adjacency[unknown][:, known]
    >>> X_train.shape, X_test.shape
    ((36, 36), (53, 36))
    """
    if not isinstance(rng, np.random.Generator):
        wanted = "a numpy.random.Generator, such as numpy.random.default_rng(0)"
        raise ArgumentTypeError("rng", wanted, rng)
    n_known = round(check_fraction("fraction", fraction) * n)
    if not 0 < n_known < n:
        raise ValueError(
            f"fraction={fraction!r} of n={n} nodes leaves {n_known} known and "
            f"{n - n_known} unknown: both need at least one node"
        )
    order = rng.permutation(n)
    return order[:n_known], order[n_known:]


def _check_adjacency(adjacency: object) -> sp.csr_array:
    check_sparse("adjacency", adjacency)
    checked = sp.csr_array(adjacency, dtype=np.float64, copy=True)
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1]:
        raise ValueError(f"adjacency must be square, (n, n); got shape {checked.shape}")
    if checked.shape[0] == 0:
        raise ValueError("adjacency has shape (0, 0), but a data set needs at least one node")
    checked.sum_duplicates()
    checked.eliminate_zeros()
    if not np.isfinite(checked.data).all():
        raise ValueError("adjacency holds NaN or infinity, but every weight must be finite")
    for part in (checked.data, checked.indices, checked.indptr):
        part.setflags(write=False)
    return checked


def _check_array(argument: str, array: ArrayLike, *, shape: tuple[int, ...]) -> NDArray[np.float64]:
    checked = np.array(array, dtype=np.float64)
    if checked.shape != shape:
        raise ValueError(f"{argument} has shape {checked.shape}, but must have shape {shape}")
    if not np.isfinite(checked).all():
        raise ValueError(f"{argument} holds NaN or infinity, but every entry must be finite")
    checked.setflags(write=False)
    return checked


def _check_node_names(node_names: Sequence[str], *, n: int) -> tuple[str, ...]:
    names = tuple(node_names) or tuple(map(str, range(n)))
    if len(names) != n:
        raise ValueError(f"node_names has {len(names)} names, but the graph has {n} nodes")
    if len(set(names)) != n:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"node_names holds {twice!r} more than once, but names must differ")
    return names
