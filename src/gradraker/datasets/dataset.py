"""A data set: a graph with a value at every node, its split, and facts known before it is read."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
import pooch
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gradraker._fields import describe_fields
from gradraker._html import render_box, render_facts
from gradraker._validation import check_fraction, check_sparse, to_read_only
from gradraker.exceptions import ArgumentTypeError, DatasetFileError

ENVIRONMENT_VARIABLE = "GRADRAKER_DATA"


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
        Where the nodes are, in the units that ``position_names`` names.
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

    def list_edges(self) -> dict[str, NDArray[Any]]:
        """Return source and target of each edge as columns, and its weight if any is not 1.

        Examples
        --------
        >>> from gradraker.datasets import GraphDataset
        >>> GraphDataset([[0, 1], [0, 0]], [3.0, 5.0], ["a", "b"], name="Two nodes").list_edges()
        {'source': array(['a'], dtype=object), 'target': array(['b'], dtype=object)}
        """
        names, links = np.array(self.node_names, dtype=object), self.adjacency.tocoo()
        columns = {"source": names[links.row], "target": names[links.col]}
        return columns | ({"weight": links.data} if (links.data != 1.0).any() else {})

    def list_values(self) -> dict[str, NDArray[Any]]:
        """Return nodes and their values as columns."""
        return {"node": np.array(self.node_names, dtype=object), "value": self.values}

    def scale_values(self) -> NDArray[np.float64]:
        """Values shifted and scaled to [0, 1] over all nodes; all 0 if they are all equal."""
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
    parts = checked.data, checked.indices, checked.indptr
    checked.data, checked.indices, checked.indptr = map(to_read_only, parts)
    return checked


def _check_array(argument: str, array: ArrayLike, *, shape: tuple[int, ...]) -> NDArray[np.float64]:
    checked = np.array(array, dtype=np.float64)
    if checked.shape != shape:
        raise ValueError(f"{argument} has shape {checked.shape}, but must have shape {shape}")
    if not np.isfinite(checked).all():
        raise ValueError(f"{argument} holds NaN or infinity, but every entry must be finite")
    return to_read_only(checked)  # type: ignore[no-any-return]


def _check_node_names(node_names: Sequence[str], *, n: int) -> tuple[str, ...]:
    names = tuple(node_names) or tuple(map(str, range(n)))
    if len(names) != n:
        raise ValueError(f"node_names has {len(names)} names, but the graph has {n} nodes")
    if len(set(names)) != n:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"node_names holds {twice!r} more than once, but names must differ")
    return names


# -- facts -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded."""

    name: str  # in the data set's folder
    url: str  # public home of the file, or of the archive that holds it
    sha256: str  # of the file itself, unpacked
    size: int  # bytes of the file itself, unpacked
    member: str = ""  # path inside the archive, if ``url`` is a tar file
    archive_sha256: str = ""  # of the archive at ``url``, where it is known

    @property
    def download_name(self) -> str:
        """Name of the file or archive at ``url``."""
        return self.url.rsplit("/", 1)[-1]


@describe_fields
@dataclass(frozen=True)
class DatasetInfo:
    """Name, origin, terms and files of a data set.

    Examples
    --------
    >>> from gradraker.datasets import describe_dataset
    >>> info = describe_dataset("temperature")
    >>> info.name, info.facts["stations"]
    ('temperature', 89)
    """

    name: Annotated[str, "Name of the data set, also of its folder if it has files."]
    loader: Annotated[
        Callable[..., GraphDataset], "Function of ``gradraker.datasets`` that returns it."
    ]
    description: Annotated[str, "What nodes, edges and values are."]
    licence: Annotated[str, "Terms of use, or that none are stated."]
    citation: Annotated[str, "What to cite."]
    facts: Annotated[Mapping[str, int], "Counts that its files must have."] = field(
        default_factory=dict
    )
    files: Annotated[tuple[RemoteFile, ...], "To download; none if the data set is embedded."] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    def find_folder(self, data_home: str | os.PathLike[str] | None) -> Path:
        """Folder of its files in ``data_home``, GRADRAKER_DATA or the user's cache folder."""
        if data_home is None:
            data_home = os.environ.get(ENVIRONMENT_VARIABLE) or pooch.os_cache("gradraker")
        return Path(data_home).expanduser() / self.name

    def check_facts(self, path: Path, found: Mapping[str, int]) -> None:
        """Refuse a file whose counts differ from the published ones."""
        wrong = [
            f"{number} {fact} instead of {self.facts[fact]}"
            for fact, number in found.items()
            if number != self.facts[fact]
        ]
        if wrong:
            raise DatasetFileError(
                f"{str(path)!r} has {' and '.join(wrong)}, so it is damaged or another file: "
                "remove it to download it again"
            )

    @property
    def terms(self) -> str:
        """Licence and citation in one line."""
        return f"{self.licence}. Cite: {self.citation}"

    def __repr__(self) -> str:
        facts = ", ".join(f"{number} {fact}" for fact, number in self.facts.items())
        return f"DatasetInfo({self.name!r}: {facts})"
