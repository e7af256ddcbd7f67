"""Several threads use one model: no step is lost, nothing raises, files can be loaded."""

import copy
import os
import pickle
import sys
import threading
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gradraker import GradrakerRegressor, NodeRegressor, SKGNodeRegressor, SKGRegressor, load

N_THREADS, N_STEPS = 4, 150


@pytest.fixture(autouse=True)
def often_switched() -> Any:
    """Let threads interrupt each other as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_together(*jobs: Any) -> None:
    errors = []

    def run(job: Any) -> None:
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


ONE_NODE_MODELS: dict[str, Any] = {
    "skg": lambda: SKGRegressor(sigma2=1.0, n_frequencies=20, random_state=0),
    "bank": lambda: GradrakerRegressor(kernels=[1.0, 4.0], n_frequencies=20, random_state=0),
}


@pytest.mark.parametrize("kind", ONE_NODE_MODELS)
def test_learn_one_loses_no_step(kind: Any) -> None:
    model = ONE_NODE_MODELS[kind]()

    def learn(number: Any) -> None:
        for step in range(N_STEPS):
            model.learn_one([f"{number}-{step}", f"{step % 7}"], float(step % 5))
            model.predict_one([f"{step}"])

    run_together(*(lambda number=number: learn(number) for number in range(N_THREADS)))
    assert model.n_seen_ == N_THREADS * N_STEPS
    assert len(model.references_) == N_THREADS * N_STEPS + 7
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("kind", ONE_NODE_MODELS)
def test_save_while_learning_writes_files_that_load(kind: Any, tmp_path: Any) -> None:
    model = ONE_NODE_MODELS[kind]()
    model.learn_one(["a"], 1.0)
    found: list[int] = []

    def learn() -> None:
        for step in range(4 * N_STEPS):
            model.learn_one([f"{step}", "a"], 1.0)

    def save() -> None:
        found.extend(load(model.save(tmp_path / "m.skg")).n_seen_ for _ in range(15))

    run_together(learn, learn, save)
    assert found == sorted(found)
    assert model.n_seen_ == 1 + 8 * N_STEPS


@pytest.mark.parametrize("make", [NodeRegressor, lambda: SKGNodeRegressor(sigma2=1.0)])
def test_node_models_learn_predict_and_save_together(make: Any, tmp_path: Any) -> None:
    edges = [(f"n{i}", f"n{(3 * i + 1) % 40}") for i in range(40)]
    model = make().fit(edges, {f"n{i}": float(i % 4) for i in range(10)})

    def learn(first: Any) -> None:
        for i in range(first, first + 10):
            model.partial_fit(values={f"n{i}": float(i % 4)})

    def predict() -> None:
        for _ in range(10):
            assert np.isfinite(model.predict(["n39"])).all()

    def save() -> None:
        for _ in range(10):
            load(model.save(tmp_path / "m.gr"))

    run_together(lambda: learn(10), lambda: learn(20), predict, save)
    assert len(model.known_nodes_) == 30


def test_copies_have_locks_of_their_own() -> None:
    model = SKGRegressor(sigma2=1.0, random_state=0)
    model.learn_one(["a"], 1.0)
    with model._turn.lock:
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), copy.copy(model)):
            assert other._turn is not model._turn
            done: list[Any] = []
            thread = threading.Thread(target=lambda m=other, d=done: d.append(m.predict_one(["a"])))
            thread.start()
            thread.join(10)
            assert len(done) == 1
        assert clone(model)._turn is not model._turn
    assert "_turn" not in vars(model)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_child_process_is_not_locked_by_a_thread_that_it_does_not_have() -> None:
    model = SKGRegressor(sigma2=1.0, random_state=0)
    model.learn_one(["a"], 1.0)
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with model._turn.lock:
            locked.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait()
    child = os.fork()
    if child == 0:  # without the lock of its parent; else it would wait forever
        model.learn_one(["a"], 1.0)
        os._exit(7)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 7
