"""Kill a live service at random moments under load, and count what is lost or applied twice.

``python tests/live_kills.py --kills 1000`` prints the count; the tests do it a few times.
"""

import argparse
import os
import random
import signal
import sqlite3
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gradraker import NodeRegressor, load
from gradraker.live import connect
from gradraker.live.journal.journal import Journal
from gradraker.live.learning.learner import Learner
from gradraker.live.settings import Settings
from live_service import LiveService

N_NODES = 40


@dataclass
class Findings:
    """What a run of kills found."""

    kills: int = 0
    acknowledged: int = 0
    lost: list[Any] = field(default_factory=list)
    twice: list[Any] = field(default_factory=list)
    largest_difference: float = 0.0
    largest_difference_of_replay: float = 0.0
    slowest_restart: float = 0.0


def make_model(path: Any) -> Any:
    rng = np.random.default_rng(0)
    edges = [(f"n{i}", f"n{rng.integers(N_NODES)}") for i in range(N_NODES) for _ in range(2)]
    return NodeRegressor().fit(edges, {f"n{i}": float(i) for i in range(0, N_NODES, 4)}).save(path)


class Load(threading.Thread):
    """A client that puts values and edges; each value is a number that occurs once."""

    def __init__(self, url: Any, token: Any, number: Any, stop: Any) -> None:
        super().__init__(daemon=True)
        self._arguments = url, token, number, stop
        self.acknowledged: dict[float, str] = {}  # value → node
        self.edges: set[Any] = set()
        self.error: Exception | None = None

    def run(self) -> None:
        url, token, number, stop = self._arguments
        rng = random.Random(number)
        client = connect(url, token=token, timeout=3600.0)
        try:
            for i in range(10**9):
                if stop.is_set():
                    break
                value = number + i * 1e-6 + 1e-7
                # Each client has nodes of its own, so that the last value of a node is known.
                node = f"n{number + 4 * rng.randrange(N_NODES // 4)}"
                if rng.random() < 0.1:
                    edge = f"n{number}-{i}", node
                    client.partial_fit([edge])
                    self.edges.add(edge)
                client.partial_fit(values={node: value})
                self.acknowledged[value] = node
        except Exception as error:
            self.error = error
        finally:
            client.close()


def kill_often(
    kills: Any,
    *,
    folder: Any,
    seed: Any = 0,
    journal: Any = None,
    most_seconds: Any = 2.0,
    report: Any = None,
    enough: Any = None,
) -> Any:
    """Kill the service or its learning process ``kills`` times while four clients change values.

    ``enough`` is an event after which no more kills follow.
    """
    rng = random.Random(seed)
    folder = Path(folder)
    model_file = make_model(folder / "model.gr")
    journal = journal or str(folder / "live.db")
    options = ("--model", model_file, "--snapshot", "1", "--lease", "2", "--rate", "100000")
    service = LiveService(*options, journal=journal).wait_until_ready()
    findings, stop = Findings(), threading.Event()
    token = service.token
    clients = [Load(service.url, token, number, stop) for number in range(4)]
    for client in clients:
        client.start()
    for i in range(kills):
        if enough is not None and enough.is_set():
            break
        time.sleep(rng.uniform(0.0, most_seconds))
        learner = service.find_learner()
        if rng.random() < 0.2 and learner is not None:
            os.kill(learner, signal.SIGKILL)
        else:
            service.kill()
            started = time.monotonic()
            service = LiveService(*options, journal=journal, port=service.port)
            if rng.random() < 0.8:  # else it is killed while it starts
                service.wait_until_ready()
                restart = time.monotonic() - started
                findings.slowest_restart = max(findings.slowest_restart, restart)
        findings.kills += 1
        if report:
            report(i + 1, sum(len(one.acknowledged) for one in clients))
    service.wait_until_ready()
    time.sleep(1.0)
    stop.set()
    for client in clients:
        client.join(180.0)
        assert client.error is None, client.error
        assert not client.is_alive()
    with service.connect() as client:
        client.wait(client.state()["journal"], timeout=300.0)
        nodes = sorted({node for one in clients for node in one.acknowledged.values()})
        served = client.predict(nodes)
    service.stop()
    _compare(findings, clients, folder, journal, model_file, nodes, served)
    return findings


def _compare(
    findings: Any, clients: Any, folder: Any, journal: Any, model_file: Any, nodes: Any, served: Any
) -> Any:
    """Look for changes that are lost or there twice, and compare predictions."""
    seen: dict[float, list[str]] = {}
    for one in _read_all(journal):
        if one.change.op == "put_value":
            seen.setdefault(one.change.value, []).append(one.change.node)
    for client in clients:
        findings.acknowledged += len(client.acknowledged)
        for value, node in client.acknowledged.items():
            if seen.get(value, []) != [node]:
                (findings.twice if value in seen else findings.lost).append(value)
    findings.twice += [value for value, found in seen.items() if len(found) > 1]
    # A model that never saw a kill: all edges, and the last value of each node.
    model = load(model_file)
    changes = _read_all(journal)
    edges = [(c.change.node, c.change.target) for c in changes if c.change.op == "put_edge"]
    values = {c.change.node: c.change.value for c in changes if c.change.op == "put_value"}
    model.partial_fit(edges or None, values)
    findings.largest_difference = float(np.abs(model.predict(nodes) - served).max())
    if "://" not in journal:
        replayed = _replay(journal, folder).predict(nodes)
        findings.largest_difference_of_replay = float(np.abs(replayed - served).max())


def _read_all(journal: Any) -> Any:
    opened = Journal.open(journal)
    found = opened.read_changes(0, limit=10**9)
    opened.close()
    assert [one.seq for one in found] == list(range(1, len(found) + 1))
    return found


def _replay(journal: Any, folder: Any) -> Any:
    """Return the model of the first snapshot after all batches of the journal."""
    copy = folder / "copy.db"
    with sqlite3.connect(journal) as source, sqlite3.connect(copy) as target:
        source.backup(target)
        target.execute("DELETE FROM snapshot WHERE batch > 0")
        target.execute("DELETE FROM validation")
    source.close()
    target.close()
    opened = Journal.open(str(copy))
    learner = Learner(opened, Settings(journal=str(copy), token_for="nothing"))
    while learner.catch_up():
        pass
    opened.close()
    return learner.live.model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=2.0, help="longest time between kills")
    given = parser.parse_args()

    def report(kills: Any, acknowledged: Any) -> None:
        print(f"\r{kills} kills, {acknowledged} acknowledged", end="", flush=True)

    os.environ["GRADRAKER_TOKEN"] = "a token for tests"
    enough = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: enough.set())  # compare what was done until then
    with tempfile.TemporaryDirectory() as folder:
        findings = kill_often(
            given.kills,
            folder=folder,
            seed=given.seed,
            most_seconds=given.seconds,
            report=report,
            enough=enough,
        )
    print(f"\n{findings}")


if __name__ == "__main__":
    main()
