"""The learner: batches, replay, validation and refusals, without a separate process."""

import math
import multiprocessing
import os
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any

import numpy as np
import pytest

from gradraker import NodeRegressor, load
from gradraker.live.journal.changes import Change
from gradraker.live.journal.journal import Journal
from gradraker.live.journal.validation import read_validations
from gradraker.live.journal.writing import Submission, append
from gradraker.live.learning.learner import Learner
from gradraker.live.learning.live_model import LiveModel, describe_base, dump_base
from gradraker.live.learning.states import open_state_file, read_state, write_state
from gradraker.live.settings import Settings


@pytest.fixture
def journal(model_file: Any, tmp_path: Any) -> Any:
    opened = Journal.open(str(tmp_path / "live.db"))
    model = load(model_file)
    opened.create(*dump_base(model), describe_base(model))
    yield opened
    opened.close()


def make_learner(journal: Any, **options: Any) -> Any:
    return Learner(journal, Settings(journal="", token_for="nothing", **options))


def put(journal: Any, node: Any, value: Any) -> Any:
    append(journal, [Submission((Change("put_value", node, value=value),))])


def test_batches_are_recorded_before_they_are_learned(journal: Any) -> None:
    put(journal, "e", 2.0)
    put(journal, "y", 3.0)
    learner = make_learner(journal)
    assert learner.learn_next()
    assert not learner.learn_next()
    put(journal, "v", 4.0)
    assert learner.learn_next()
    assert [(one.first_seq, one.last_seq) for one in journal.read_batches(0)] == [(1, 2), (3, 3)]
    assert learner.seq == 3
    learner.lease.release()
    again = make_learner(journal)
    assert again.catch_up()
    nodes = learner.live.names
    np.testing.assert_array_equal(
        again.live.model.predict(nodes), learner.live.model.predict(nodes)
    )


def test_batches_are_bounded(journal: Any) -> None:
    for i in range(5):
        put(journal, "e", float(i))
    learner = make_learner(journal, largest_batch=2)
    while learner.learn_next():
        pass
    assert [(b.first_seq, b.last_seq) for b in journal.read_batches(0)] == [(1, 2), (3, 4), (5, 5)]


def test_values_are_predicted_before_they_are_learned(journal: Any, model_file: Any) -> None:
    model = load(model_file)
    edge = Change("put_edge", "new", "x", 1.0)
    changes = (edge, Change("put_value", "new", value=5.0), Change("put_value", "e", value=2.0))
    append(journal, [Submission(changes)])
    put(journal, "e", 3.0)
    learner = make_learner(journal)
    learner.make_state()
    while learner.learn_next():
        pass
    second, first, new = read_validations(journal, last=10)
    assert first.predicted == pytest.approx(model.predict(["e"])[0])
    assert (first.is_first, second.is_first) == (True, False)
    assert first.baseline_error == pytest.approx(model.mean_ - 2.0)
    expected = model.partial_fit([("new", "x")]).predict(["new"])[0]
    assert new.predicted == pytest.approx(expected)


def test_errors_that_a_dead_process_did_not_write_are_written(journal: Any) -> None:
    put(journal, "e", 2.0)
    learner = make_learner(journal)
    learner._write_outcomes = lambda: None  # it dies here
    learner.learn_next()
    learner.lease.release()
    assert read_validations(journal, last=10) == []
    again = make_learner(journal)
    again.learn_next()
    assert [one.node for one in read_validations(journal, last=10)] == ["e"]


class FussyRegressor(NodeRegressor):
    """A model that refuses a value."""

    def partial_fit(self, graph: Any = None, values: Any = None, **options: Any) -> Any:
        if values and 13.0 in values.values():
            raise ValueError("values must not be 13")
        return super().partial_fit(graph, values, **options)


def test_change_that_the_model_refuses_is_skipped(journal: Any, model_file: Any) -> None:
    learner = make_learner(journal)
    model = load(model_file)
    fussy = FussyRegressor().fit(
        model.adjacency_, dict(zip(model.known_nodes_, model.known_values_, strict=True)),
        names=model.nodes_,
    )  # fmt: skip
    learner.live = LiveModel(fussy, is_directed=True)
    for node, value in (("e", 2.0), ("y", 13.0), ("v", 4.0)):
        put(journal, node, value)
    assert learner.learn_next()
    batch = journal.read_batches(0)[0]
    assert journal.read_refusals(batch) == {2: "values must not be 13"}
    assert learner.live.n_known == 6
    learner.lease.release()
    again = make_learner(journal)  # a model that would take it follows the journal
    again.catch_up()
    assert again.live.n_known == 6


def test_snapshot_makes_replay_short(journal: Any) -> None:
    learner = make_learner(journal)
    put(journal, "e", 2.0)
    learner.learn_next()
    learner.write_snapshot()
    assert journal.read_snapshot().batch == 0  # not yet
    learner.write_snapshot(is_due=True)
    assert journal.read_snapshot().batch == 1
    learner.lease.release()
    again = make_learner(journal)
    assert (again.batch, again.seq) == (1, 1)
    assert not again.catch_up()
    assert again.live.model.predict(["x"])[0] == pytest.approx(learner.live.model.predict(["x"])[0])


@pytest.mark.parametrize("in_memory", [True, False])
def test_state_is_passed_through_a_file(journal: Any, monkeypatch: Any, in_memory: bool) -> None:
    if not in_memory:
        monkeypatch.delattr("os.memfd_create", raising=False)
    learner = make_learner(journal)
    table = learner.make_state()
    ours, theirs = multiprocessing.Pipe()
    with open_state_file() as file:
        write_state(file, table, learner.live.model)
        theirs.send("news")
        send_handle(theirs, file.fileno(), os.getpid())
    theirs.close()
    assert ours.recv() == "news"
    descriptor = recv_handle(ours)
    state = read_state(descriptor)
    os.close(descriptor)
    with pytest.raises(EOFError):
        recv_handle(ours)
    ours.close()
    assert state.table.names == table.names
    np.testing.assert_array_equal(state.table.predictions, table.predictions)
    found = state.model.predict_new({"n": ["x"]})
    assert math.isclose(found["n"], learner.live.model.predict_new({"n": ["x"]})["n"])
    assert state.second_model is not state.model
