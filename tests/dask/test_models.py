"""Node models on a real Dask cluster of processes: same results, also when a worker dies."""

import gc
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from gradraker import NodeClassifier, NodeRegressor, read_edges
from gradraker.dask import DaskNodeClassifier, DaskNodeRegressor
from gradraker.dask.tasks import share_graph
from gradraker.models import cross_validate_nodes, search_nodes
from spread_graph import N, make_graph

distributed = pytest.importorskip("distributed", reason="needs the extra gradraker[dask]")

# Whether Dask closes all sockets of a worker that was killed before they are collected is luck.
pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as started,
    ):
        yield started
    gc.collect()  # here rather than in the tests of another file


@pytest.mark.parametrize("solver", ["operators", "exact"])
def test_regressor_on_a_cluster_equals_the_plain_one(client: Any, solver: str) -> None:
    A, values = make_graph()
    plain = NodeRegressor(solver=solver).fit(A, values, kind="matrix")
    spread = DaskNodeRegressor(client=client, solver=solver).fit(A, values, kind="matrix")
    assert spread.client_ is client
    assert (spread.kernel_, spread.alpha_) == (plain.kernel_, plain.alpha_)
    np.testing.assert_array_equal(spread.predict(), plain.predict())
    found, expected = spread.explain(), plain.explain()
    # BLAS rounds products of other sizes otherwise.
    allowed = 0.0 if solver == "operators" else 1e-10
    np.testing.assert_allclose(found.weights, expected.weights, atol=allowed)
    np.testing.assert_allclose(found.prediction, expected.prediction, atol=1e-12)
    assert found.node_names == expected.node_names
    assert found.parts is not None
    local = spread.to_local()
    assert type(local) is NodeRegressor
    local.partial_fit(values={1: 5.0})
    plain.partial_fit(values={1: 5.0})
    np.testing.assert_array_equal(local.predict(), plain.predict())


def test_classifier_takes_the_current_client(client: Any) -> None:
    A, values = make_graph()
    names = [f"node {i}" for i in range(N)]
    labels = {names[i]: "high" if v > 0 else "low" for i, v in enumerate(values) if v == v}
    plain = NodeClassifier().fit(A, labels, kind="matrix", names=names)
    spread = DaskNodeClassifier().fit(A, labels, kind="matrix", names=names)
    np.testing.assert_array_equal(spread.predict_proba(), plain.predict_proba())
    assert spread.predict(["node 1"]).tolist() == plain.predict(["node 1"]).tolist()
    assert spread.classes_.tolist() == ["high", "low"]


def test_graph_on_disk_is_mapped_by_workers(client: Any, tmp_path: Any) -> None:
    (tmp_path / "edges.csv").write_text(
        "\n".join(f"{i},{(i + k) % N}" for i in range(N) for k in (1, 2))
    )
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    values = {i: float(np.sin(i / 20)) for i in range(0, N, 3)}
    plain = NodeRegressor(blocks=("hop1", "hop4"), width=1.0, alpha=0.5).fit(graph, values)
    parameters = plain.get_params()
    spread = DaskNodeRegressor(client=client, **parameters).fit(graph, values)
    np.testing.assert_array_equal(spread.predict(), plain.predict())
    assert (graph.folder / "hop.f4").exists()


def test_a_killed_worker_changes_nothing(client: Any) -> None:
    A, values = make_graph()
    plain = NodeRegressor(solver="operators", tol=1e-8).fit(A, values, kind="matrix")
    spread = DaskNodeRegressor(client=client, solver="operators", tol=1e-8)
    spread.fit(A, values, kind="matrix")
    victim = min(client.run(os.getpid).values())

    def kill_soon() -> None:
        time.sleep(0.1)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill_soon)
    killer.start()
    nodes = np.tile(np.arange(N), 4).tolist()
    found = spread.explain(nodes)
    killer.join()
    assert victim not in client.run(os.getpid, on_error="ignore").values()
    np.testing.assert_array_equal(found.weights, plain.explain(nodes).weights)


def test_attributes_and_sample_weights_go_to_workers(client: Any) -> None:
    A, values = make_graph()
    options: dict[str, Any] = {
        "attributes": np.column_stack([np.cos(np.arange(N) / 33), np.arange(N) % 5]),
        "sample_weight": np.where(np.arange(N) % 2 == 0, 1.0, 2.0),
        "kind": "matrix",
    }
    plain = NodeRegressor(solver="operators").fit(A, values, **options)
    spread = DaskNodeRegressor(client=client, solver="operators").fit(A, values, **options)
    assert spread.kernel_ == plain.kernel_
    np.testing.assert_array_equal(spread.predict(), plain.predict())


def test_explanations_in_another_scale_are_joined(client: Any) -> None:
    A, values = make_graph()
    values = np.exp(3.0 * values)
    parameters: dict[str, Any] = {"solver": "operators", "alpha": 0.5, "transform": "log"}
    plain = NodeRegressor(**parameters).fit(A, values, kind="matrix").explain()
    spread = DaskNodeRegressor(client=client, **parameters).fit(A, values, kind="matrix")
    found = spread.explain()
    assert plain.units is not None
    assert found.units is not None
    assert found.units.scale == plain.units.scale
    np.testing.assert_array_equal(found.units.values, plain.units.values)
    np.testing.assert_allclose(found.units.predictions, plain.units.predictions, rtol=1e-9)


def _kill_the_one_that_fits(client: Any, killed: list[int]) -> None:
    """Kill the worker that leads a fit, as soon as there is one."""
    pids = client.run(os.getpid)
    for _ in range(600):
        busy = [
            worker
            for worker, keys in client.processing().items()
            if any("fit_task" in str(key) for key in keys)
        ]
        if busy:
            time.sleep(0.2)
            killed.append(pids[busy[0]])
            os.kill(pids[busy[0]], signal.SIGKILL)
            return
        time.sleep(0.02)


def test_a_worker_killed_during_fit_changes_nothing(client: Any) -> None:
    A, values = make_graph()
    several = values[:, np.newaxis] * np.linspace(1.0, 2.0, 40) + np.arange(40)
    several[~np.isnan(values), 1:] += np.random.default_rng(1).normal(size=(100, 39))
    parameters: dict[str, Any] = {"solver": "operators", "tol": 1e-9, "transform": "none"}
    plain = NodeRegressor(**parameters).fit(A, several, kind="matrix")
    killed: list[int] = []
    killer = threading.Thread(target=_kill_the_one_that_fits, args=(client, killed))
    killer.start()
    spread = DaskNodeRegressor(client=client, **parameters).fit(A, several, kind="matrix")
    killer.join()
    assert killed
    assert killed[0] not in client.run(os.getpid, on_error="ignore").values()
    target = spread.target_names_[7]
    found, expected = (m.explain([1, 2], target=target) for m in (spread, plain))
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert (spread.kernel_, spread.alpha_) == (plain.kernel_, plain.alpha_)
    np.testing.assert_array_equal(spread.predict(), plain.predict())


def test_pieces_of_a_fit_go_to_all_workers(client: Any) -> None:
    A, values = make_graph()
    model = DaskNodeRegressor(client=client, solver="operators").fit(A, values, kind="matrix")
    assert model.alpha_ > 0.0

    def count_pieces(dask_scheduler: Any) -> int:
        names = [prefix.name for prefix in dask_scheduler.task_prefixes.values()]
        return names.count("run_piece")

    assert client.run_on_scheduler(count_pieces) == 1


def test_validation_and_search_go_to_a_cluster_by_joblib(client: Any) -> None:
    A, values = make_graph()
    grid = {"alpha": [0.1, 1.0], "blocks": [("hop1",), ("hop2",)]}
    model = NodeRegressor(solver="operators", blocks=("hop1",))
    options: dict[str, Any] = {"cv": 3, "kind": "matrix"}
    expected = cross_validate_nodes(model, A, values, **options)
    best = search_nodes(model, grid, A, values, **options)
    with joblib.parallel_config(backend="dask", client=client):
        found = cross_validate_nodes(model, A, values, **options)
        searched = search_nodes(model, grid, A, values, **options)
    np.testing.assert_array_equal(found["test_score"], expected["test_score"])
    assert (searched.best_params, searched.best_score) == (best.best_params, best.best_score)


def test_independent_fits_go_to_a_cluster_by_joblib(client: Any) -> None:
    A, values = make_graph()

    def fit_one(alpha: float) -> Any:
        return (
            NodeRegressor(alpha=alpha, solver="operators").fit(A, values, kind="matrix").predict()
        )

    with joblib.parallel_config(backend="dask", client=client):
        found = joblib.Parallel()(joblib.delayed(fit_one)(alpha) for alpha in (0.1, 1.0))
    for alpha, predicted in zip((0.1, 1.0), found, strict=True):
        np.testing.assert_array_equal(predicted, fit_one(alpha))


def test_copies_need_no_cluster(client: Any) -> None:
    A, values = make_graph()
    model = DaskNodeRegressor(client=client, alpha=0.5).fit(A, values, kind="matrix")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(), model.predict())
    assert clone(DaskNodeRegressor(alpha=0.5, timeout=3.0)).get_params()["timeout"] == 3.0
    assert model.set_params(alpha=2.0).get_params()["alpha"] == 2.0
    np.testing.assert_array_equal(copy.explain([1, 2]).weights, model.explain([1, 2]).weights)


def test_the_option_directed_reaches_the_workers() -> None:
    A = csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    for directed in (True, False):
        assert share_graph(A, {"directed": directed})[1]["directed"] is directed
    assert share_graph(A, {})[1]["directed"] is False  # every edge has its reverse
