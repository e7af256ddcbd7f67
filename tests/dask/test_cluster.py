"""Clusters without workers: an error after the stated time."""

import gc
import os
import time

import pytest

from gradraker.dask import DaskNodeRegressor
from gradraker.dask.cluster import gather_results
from gradraker.exceptions import NoWorkerError
from spread_graph import make_graph

distributed = pytest.importorskip("distributed", reason="needs the extra gradraker[dask]")
# Whether Dask closes all sockets of a worker that was killed before they are collected is luck.
pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_losing_all_workers_is_an_error_after_the_timeout() -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as own,
        distributed.Client(own, set_as_default=False) as lonely,
    ):
        own.scale(0)
        while lonely.nthreads():
            time.sleep(0.05)
        with pytest.raises(NoWorkerError, match=r"no worker for 1 seconds"):
            gather_results(lonely, [lonely.submit(os.getpid, pure=False)], 1.0)
    gc.collect()


def test_no_worker_is_an_error_after_the_timeout() -> None:
    A, values = make_graph()
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as empty,
    ):
        model = DaskNodeRegressor(client=empty, timeout=0.5)
        start = time.monotonic()
        with pytest.raises(NoWorkerError, match=r"no worker for 0.5 seconds"):
            model.fit(A, values, kind="matrix")
        assert time.monotonic() - start < 10.0
    gc.collect()
