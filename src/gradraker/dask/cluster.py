"""The client of a cluster, and the wait for its workers."""

from collections.abc import Sequence
from typing import Any

from gradraker.exceptions import NoWorkerError


def find_client(client: Any) -> Any:
    """Return the client, or the current one if it is None."""
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError(
            "gradraker.dask needs the package distributed: pip install 'gradraker[dask]'"
        ) from error
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "client must be a dask.distributed.Client, or one must exist, got None and none exists"
        ) from None


def wait_for_workers(client: Any, timeout: float) -> None:
    """Wait until the cluster has a worker; raise NoWorkerError after ``timeout`` seconds."""
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError:
        raise NoWorkerError(timeout) from None


def gather_results(client: Any, futures: Sequence[Any], timeout: float) -> list[Any]:
    """Wait for results; raise NoWorkerError if no worker exists for ``timeout`` seconds."""
    from distributed import wait

    while True:
        try:
            with client.as_current():  # it may not be the default client
                wait(futures, timeout=timeout)  # type: ignore[no-untyped-call]
        except TimeoutError:
            wait_for_workers(client, timeout)
        else:
            return list(client.gather(futures))
