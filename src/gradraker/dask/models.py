"""Node models that fit and explain on the workers of a cluster."""

import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Generic, Self, TypeVar
from uuid import uuid4

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import check_positive
from gradraker.dask.cluster import find_client, gather_results, wait_for_workers
from gradraker.dask.tasks import (
    NODES_PER_TASK,
    explain_task,
    fit_task,
    join_explanations,
    share_graph,
    write_shared,
)
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.models import NodeClassifier, NodeRegressor

_DASK_PARAMETERS = ("client", "directory", "timeout")


class _Folder:
    """A temporary folder that is removed with the last model that uses it."""

    def __init__(self, parent: Any) -> None:
        self.path = Path(mkdtemp(prefix="gradraker-", dir=parent))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


M = TypeVar("M", NodeRegressor, NodeClassifier)


class _DaskModel(BaseEstimator, Generic[M]):
    """Fits a node model on a cluster; subclasses set ``model_class``.

    It is not a model of graphs itself: it fits, predicts and explains, and :meth:`to_local` returns
    the model of graphs, which also learns more, forgets and is saved.
    """

    model_class: type[M]
    _local: M

    def __init__(
        self, *, client: Any = None, directory: Any = None, timeout: float = 30.0, **parameters: Any
    ) -> None:
        self.client = client
        self.directory = directory
        self.timeout = timeout
        self._parameters: dict[str, Any] = self.model_class(**parameters).get_params()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, including those of the plain model."""
        return {name: getattr(self, name) for name in _DASK_PARAMETERS} | self._parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, including those of the plain model."""
        for name in set(parameters) & set(_DASK_PARAMETERS):
            setattr(self, name, parameters.pop(name))
        self._parameters = (
            self.model_class(**self._parameters).set_params(**parameters).get_params()
        )
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_local" in vars(self)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_") and "_local" in vars(self):
            return getattr(self._local, name)  # a fitted attribute of the plain model
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        state = {name: v for name, v in vars(self).items() if name not in ("_folder", "_file")}
        return state | {"client": None}

    @property
    def client_(self) -> Any:
        """The client in use."""
        return find_client(self.client)

    def fit(self, graph: Any, values: Any, **options: Any) -> Self:
        """Learn a graph and known values on workers; see the plain model's ``fit``.

        The graph is written once to ``directory``, and workers memory-map it. One worker runs the
        fit; it sends candidate settings and groups of targets to all workers.
        """
        client = self.client_
        wait_for_workers(client, check_positive("timeout", self.timeout))
        folder = _Folder(self.directory)
        shared, rest = self._share(graph, options)
        job = write_shared(folder.path, "job", (shared, values, rest))
        model = self.model_class(**self._parameters)
        name = f"model-{uuid4().hex}"
        future = client.submit(fit_task, model, job, name, pure=False)
        (file,) = gather_results(client, [future], self.timeout)
        self._local, self._file, self._folder = joblib.load(file), file, folder
        return self

    def _share(self, graph: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        names = ("attributes", "sample_weight", "unknown_nodes", "node", "value")
        fit_options = {name: options[name] for name in names if name in options}
        graph_options = {name: value for name, value in options.items() if name not in names}
        shared, rest = share_graph(graph, graph_options)
        return shared, fit_options | rest

    def to_local(self) -> M:
        """Return the plain model, fitted, which needs no cluster."""
        check_is_fitted(self)
        return self._local

    def predict(self, nodes: Any = None, **options: Any) -> Any:
        """Predict nodes of the graph, as the plain model does."""
        return self.to_local().predict(nodes, **options)

    def predict_new(self, links: Any, **options: Any) -> Any:
        """Predict nodes that are not in the graph, as the plain model does."""
        return self.to_local().predict_new(links, **options)

    def score(self, nodes: Any, values: Any) -> float:
        """Return the score of the plain model."""
        return float(self.to_local().score(nodes, values))

    def explain(
        self, nodes: Any = None, *, left_out: bool = False, **options: Any
    ) -> LinearExplanation:
        """Explain predictions on all workers: each takes some of the nodes.

        ``options`` are those of the plain model, such as ``target``.
        """
        options["left_out"] = left_out
        local, client = self.to_local(), self.client_
        if nodes is None:
            nodes = local.known_nodes_ if left_out else local.unknown_nodes_
        wait_for_workers(client, self.timeout)
        if not hasattr(self, "_file"):  # a copy has no file of the fit
            self._folder = _Folder(self.directory)
            self._file = write_shared(self._folder.path, "model", local)
        nodes = list(nodes)
        if not nodes:
            return local.explain(nodes, **options)
        pieces = [nodes[i : i + NODES_PER_TASK] for i in range(0, len(nodes), NODES_PER_TASK)]
        futures = [
            client.submit(explain_task, self._file, piece, options, pure=False) for piece in pieces
        ]
        return join_explanations(gather_results(client, futures, self.timeout))


class DaskNodeRegressor(_DaskModel[NodeRegressor]):
    """A :class:`gradraker.NodeRegressor` that fits and explains on the workers of a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client, optional
        Default: the current client.
    directory : path, optional
        A folder that all machines of the cluster share, to which the graph and the fitted model
        are written; default the folder for temporary files, which is enough on one machine.
    timeout : float, default=30
        Seconds to wait for a worker.
    **parameters
        As for :class:`gradraker.NodeRegressor`.

    Attributes
    ----------
    client_ : dask.distributed.Client
        The client in use.

    Examples
    --------
    >>> from gradraker.dask import DaskNodeRegressor
    >>> DaskNodeRegressor(alpha=0.5).get_params()["alpha"]
    0.5
    """

    model_class = NodeRegressor


class DaskNodeClassifier(_DaskModel[NodeClassifier]):
    """A :class:`gradraker.NodeClassifier` that fits and explains on workers of a Dask cluster.

    Parameters
    ----------
    client, directory, timeout
        As for :class:`DaskNodeRegressor`.
    **parameters
        As for :class:`gradraker.NodeClassifier`.

    Examples
    --------
    >>> from gradraker.dask import DaskNodeClassifier
    >>> DaskNodeClassifier(timeout=5.0).get_params()["timeout"]
    5.0
    """

    model_class = NodeClassifier

    def predict_proba(self, nodes: Any = None) -> NDArray[np.float64]:
        """Predict probabilities of classes, as the plain model does."""
        return np.asarray(self.to_local().predict_proba(nodes))
