"""What of a node model goes into its file: the graph, what is known, and what was chosen."""

import math
import os
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from gradraker.features.identities import plain_name
from gradraker.graph.names import Names, find_repeated, to_name_array
from gradraker.graph.node_graph import KnownGraph
from gradraker.models.persistence.archive import (
    name_from_json,
    name_to_json,
    read_model,
    refused_by_name,
    write_model,
)
from gradraker.models.persistence.row_models import plain_parameters, whole
from gradraker.models.walks.blocks import Kernel, Term, check_block
from gradraker.models.walks.choice import Choice, Tried

_SAVED = (str, int, float, bytes, tuple)


class FileMixin:
    """Save and load a node model."""

    def save(self, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> Path:
        """Write the model to a file, whole or not at all, without pickle.

        The file holds the graph, what is known and what was chosen; :func:`gradraker.load`
        reads it.

        Parameters
        ----------
        path : path-like
            Where to write; an older file is replaced.
        notes : dict, optional
            What else to keep: anything that JSON can hold.

        Returns
        -------
        Path
        """
        check_is_fitted(self)
        self._check_parameters()  # type: ignore[attr-defined]
        return save_nodes(self, path, notes or {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that :meth:`save` wrote."""
        return cls._restored(path, *read_model(path))

    @classmethod
    def _restored(
        cls,
        path: str | os.PathLike[str],
        header: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
    ) -> Self:
        return cast(Self, restore_nodes(cls, path, header, arrays))


def save_nodes(model: Any, path: str | os.PathLike[str], notes: dict[str, Any]) -> Path:
    """Write a fitted node model to ``path``."""
    graph = model._graph
    state = {
        "seed_": model.seed_,
        "choice": None if model._choice is None else _choice_to_json(model._choice),
        "choice_is_current": model._choice_is_current,
        "n_at_choice": model._n_at_choice,
        "nodes": None,
        "labels": None,
    }
    arrays = {
        "indptr": graph.A.indptr.astype(np.int64),
        "indices": graph.A.indices.astype(np.int64),
        "data": graph.A.data,
        "arrived": model._arrived,
    }
    if graph.nodes.dtype == np.int64:
        arrays["nodes"] = graph.nodes
    else:
        state["nodes"] = [_to_json("node", name) for name in graph.nodes.tolist()]
    if model._given.dtype == np.float64:
        arrays["values"] = model._given
    else:
        labels = model._given.tolist()
        state["labels"] = [None if x is None else _to_json("label", x) for x in labels]
    return write_model(
        path,
        kind=type(model).__name__,
        parameters=plain_parameters(model),
        state=state,
        notes=notes,
        arrays=arrays,
    )


def restore_nodes(
    cls: Any, path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> Any:
    """Make the model of class ``cls`` that a file describes, or refuse the file by name."""
    with refused_by_name(path, header, cls):
        parameters, state = dict(header["parameters"]), header["state"]
        if isinstance(parameters["blocks"], list):
            parameters["blocks"] = tuple(parameters["blocks"])
        model = cls(**parameters)
        model._check_parameters()
        nodes = _restored_names(arrays, state)
        if state["labels"] is None:
            given = arrays["values"].astype(np.float64, casting="safe")
            if np.isinf(given).any():
                raise ValueError("a value is infinite")
        else:
            labels = [None if x is None else name_from_json(x) for x in state["labels"]]
            given = np.fromiter(labels, dtype=object, count=len(labels))
        if given.shape != nodes.shape or given.dtype != model._nothing(0).dtype:
            raise ValueError("nodes and values do not fit")
        seed = whole("seed_", state["seed_"], 2**64 - 1)
        model._begin(KnownGraph(nodes, _restored_matrix(arrays, len(nodes))), given)
        model.seed_ = seed
        model._arrived = _restored_arrivals(arrays, model._is_known(given))
        if state["choice"] is not None:
            model._choice = _choice_from_json(state["choice"])
            model._choice_is_current = bool(state["choice_is_current"])
            model._n_at_choice = int(state["n_at_choice"])
    return model


def _restored_names(arrays: dict[str, NDArray[Any]], state: dict[str, Any]) -> Names:
    if state["nodes"] is None:
        nodes: Names = arrays["nodes"].astype(np.int64, casting="safe")
    else:
        listed = [name_from_json(item) for item in state["nodes"]]
        nodes = to_name_array(listed, argument="nodes")
    if nodes.ndim != 1 or find_repeated(nodes) is not None:
        raise ValueError("the name of a node is there twice")
    return nodes


def _restored_matrix(arrays: dict[str, NDArray[Any]], n: int) -> csr_array:
    indptr = arrays["indptr"].astype(np.int64, casting="safe")
    indices = arrays["indices"].astype(np.int64, casting="safe")
    data = arrays["data"].astype(np.float64, casting="safe")
    sound = (
        indptr.shape == (n + 1,)
        and indptr[0] == 0
        and bool(np.all(np.diff(indptr) >= 0))
        and indices.shape == data.shape == (indptr[-1],)
        and bool(np.all((indices >= 0) & (indices < n)))
        and bool(np.isfinite(data).all())
    )
    if not sound:
        raise ValueError("the edges are not consistent")
    return csr_array((data, indices, indptr), shape=(n, n))


def _restored_arrivals(
    arrays: dict[str, NDArray[Any]], is_known: NDArray[np.bool_]
) -> NDArray[np.int64]:
    arrived = arrays["arrived"].astype(np.int64, casting="safe")
    inside = arrived.ndim == 1 and bool(np.all((arrived >= 0) & (arrived < is_known.size)))
    if not inside or np.unique(arrived).size != arrived.size or not is_known[arrived].all():
        raise ValueError("the order of arrival is not consistent")
    return arrived


def _choice_to_json(choice: Choice) -> dict[str, Any]:
    return {
        "kernel": [list(term) for term in choice.kernel],
        "alpha": _finite(choice.alpha),
        "tried": [[[list(term) for term in t.kernel], t.nats] for t in choice.tried],
        "n_used": choice.n_used,
    }


def _choice_from_json(item: dict[str, Any]) -> Choice:
    kernel = _restored_kernel(item["kernel"])
    alpha = _number(item["alpha"])
    if not alpha > 0.0 or math.isinf(alpha) != (not kernel):
        raise ValueError("the choice is not consistent")
    tried = tuple(Tried(_restored_kernel(terms), float(nats)) for terms, nats in item["tried"])
    return Choice(kernel, alpha, tried, int(item["n_used"]))


def _restored_kernel(terms: list[Any]) -> Kernel:
    kernel = tuple(Term(check_block(b), float(width), float(share)) for b, width, share in terms)
    if not all(0.0 < term.width < math.inf and term.share > 0.0 for term in kernel):
        raise ValueError("a width or a share is not a positive number")
    if kernel and not math.isclose(sum(term.share for term in kernel), 1.0, rel_tol=1e-6):
        raise ValueError("the shares do not sum to 1")
    return kernel


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)


def _to_json(what: str, name: Any) -> Any:
    plain = plain_name(name)
    if not isinstance(plain, _SAVED):
        raise TypeError(
            f"the {what} {name!r} is of type {type(name).__name__}, which a model file cannot "
            "hold: use strings, numbers, bytes or tuples of these"
        )
    return name_to_json(plain)
