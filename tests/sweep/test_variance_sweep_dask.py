"""Sweeps on a real Dask cluster of processes: same results, also when a worker dies."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from gradraker import load_temperature, sigma2_sweep
from gradraker.sweep import SweepResult

distributed = pytest.importorskip("distributed", reason="needs the extra gradraker[dask]")

# Enough work for a worker to be killed in the middle of it.
OPTIONS: dict[str, Any] = {"n_repeats": 16, "n_frequencies": 1500, "random_state": 2}
# Whether Dask closes all sockets of a worker that was killed before they are collected is luck.
pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]


@pytest.fixture(scope="module")
def alone() -> SweepResult:
    return sigma2_sweep(load_temperature(), **OPTIONS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as started:
        yield started
    gc.collect()  # here rather than in the tests of another file


def same(one: SweepResult, other: SweepResult) -> bool:
    return np.array_equal(one.gnmse, other.gnmse) and np.array_equal(
        one.boundaries, other.boundaries
    )


def test_parallel_config_sends_repeats_to_a_cluster(cluster: Any, alone: SweepResult) -> None:
    with distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        found = sigma2_sweep(load_temperature(), **OPTIONS)
    assert same(found, alone)


def test_a_killed_worker_costs_its_unfinished_repeats_only(
    cluster: Any, alone: SweepResult, tmp_path: Path
) -> None:
    path = tmp_path / "sweep.jsonl"
    numbers = []
    with distributed.Client(cluster) as client, joblib.parallel_config(backend="dask"):
        victim = min(client.run(os.getpid).values())

        def kill_one(stage: Any, done: Any, total: Any) -> None:
            numbers.append(done)
            if done == 3:
                os.kill(victim, signal.SIGKILL)

        found = sigma2_sweep(load_temperature(), **OPTIONS, checkpoint=path, progress=kill_one)
    assert numbers == list(range(17))  # nothing that was done is done again
    assert same(found, alone)
    assert path.read_bytes() == alone.save(tmp_path / "alone.jsonl").read_bytes()


def test_sweep_command_takes_the_address_of_a_scheduler(
    run: Callable[..., Any], cluster: Any, alone: SweepResult, tmp_path: Path
) -> None:
    path = tmp_path / "sweep.jsonl"
    words = ["sweep", "--dataset", "temperature", "--repeats", "16", "--frequencies", "1500"]
    options = ["--seed", "2", "--out", str(path), "--scheduler", cluster.scheduler_address]
    result = run(*words, *options)
    assert result.exit_code == 0, result.output
    assert same(SweepResult.load(path), alone)


def test_sweep_command_names_a_scheduler_that_does_not_answer(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules["gradraker.cli.skg.sweep"], "_CONNECT_SECONDS", 1)
    monkeypatch.chdir(tmp_path)
    address = "tcp://127.0.0.1:9"  # the port of "discard", on which no server listens
    result = run("sweep", "--dataset", "temperature", "--scheduler", address)
    assert result.exit_code == 1
    assert address in result.stderr
