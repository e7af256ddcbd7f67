"""A graph in a folder, mapped into memory: for edges that do not fit in memory."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._fields import describe_fields
from gradraker.graph.names import Names

# Positions of entries are 32-bit.
MOST_ENTRIES = 2**31 - 1
_MANIFEST, _VERSION = "graph.json", 1
_ARRAYS = {"nodes": np.int64, "indptr": np.int32, "indices": np.int32, "weights": np.float32}


@describe_fields
@dataclass(frozen=True, repr=False, eq=False)
class DiskGraph:
    r"""A graph in a folder, as :func:`gradraker.read_edges` builds it with ``on_disk``.

    Edges count both ways: ``matrix`` is ``|A| + |A|ᵀ`` with a full diagonal, in single precision.
    Its arrays are mapped files, of which the system loads the pages that are used.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gradraker import read_edges
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (place / "edges.csv").write_text("source,target\n7,8\n8,9\n")
    >>> graph = read_edges(place / "edges.csv", on_disk=place / "graph")
    >>> graph.nodes.tolist(), graph.matrix.shape
    ([7, 8, 9], (3, 3))
    """

    folder: Annotated[Path, "Where the files are."]
    nodes: Annotated[Names, "Names (n,), sorted."]
    matrix: Annotated[csr_array, "Weights (n, n) of edges, both ways."]
    n_edges: Annotated[int, "Edges that were read, duplicates included."]

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"DiskGraph({self.n_edges} edges among {len(self)} nodes in {str(self.folder)!r})"


def write_manifest(folder: Path, *, n_nodes: int, n_edges: int) -> None:
    """Write the sizes of the graph; called last, since a folder without them is incomplete."""
    facts = {"version": _VERSION, "n_nodes": n_nodes, "n_edges": n_edges}
    (folder / _MANIFEST).write_text(json.dumps(facts), encoding="utf-8")


def open_disk_graph(folder: str | os.PathLike[str]) -> DiskGraph:
    r"""Map a graph that :func:`gradraker.read_edges` built in a folder.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gradraker import read_edges
    >>> from gradraker.graph import open_disk_graph
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (place / "edges.csv").write_text("source,target\n7,8\n8,9\n")
    >>> _ = read_edges(place / "edges.csv", on_disk=place / "graph")
    >>> open_disk_graph(place / "graph")
    DiskGraph(2 edges among 3 nodes in '...graph')
    """
    place = Path(folder)
    try:
        facts = json.loads((place / _MANIFEST).read_text(encoding="utf-8"))
        n = int(facts["n_nodes"])
        arrays = {name: _map_array(place, name) for name in _ARRAYS}
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"{str(place)!r} is not a graph on disk ({error})") from None
    sizes = {name: array.size for name, array in arrays.items()}
    n_entries = int(arrays["indptr"][-1]) if sizes["indptr"] else -1
    expected = {"nodes": n, "indptr": n + 1, "indices": n_entries, "weights": n_entries}
    if facts.get("version") != _VERSION or sizes != expected:
        raise ValueError(f"{str(place)!r} is not a graph on disk (sizes of its files do not fit)")
    matrix = csr_array((n, n), dtype=np.float32)
    # Set one by one: the constructor would read all entries.
    matrix.indptr, matrix.indices = arrays["indptr"], arrays["indices"]
    matrix.data = arrays["weights"]
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return DiskGraph(place, arrays["nodes"], matrix, int(facts["n_edges"]))


def _map_array(folder: Path, name: str) -> NDArray[Any]:
    dtype = np.dtype(_ARRAYS[name])
    ending = {"i": "i", "f": "f"}[dtype.kind] + str(dtype.itemsize)
    return np.asarray(np.memmap(folder / f"{name}.{ending}", dtype=dtype, mode="r"))
