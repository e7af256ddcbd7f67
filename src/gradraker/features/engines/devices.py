"""The choice of an engine by the name of a device."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradraker.exceptions import DeviceMemoryError, DeviceWarning, NoDeviceError
from gradraker.features.engine import CpuEngine, Engine
from gradraker.features.engines.cuda import make_cuda_engine

ENGINES: dict[str, Callable[[], Engine]] = {"cpu": CpuEngine, "cuda": make_cuda_engine}
DEVICES = ("cpu", "cuda", "auto")


def choose_engine(device: str) -> Engine:
    """Return the engine of a device; "auto" takes a GPU where there is one.

    Examples
    --------
    >>> from gradraker.features.engines.devices import choose_engine
    >>> choose_engine("cpu").name
    'cpu'
    """
    if device != "auto":
        return ENGINES[device]()
    try:
        return ENGINES["cuda"]()
    except NoDeviceError as error:
        warnings.warn(f"device='auto' takes the CPU: {error.reason}", DeviceWarning, stacklevel=2)
        return ENGINES["cpu"]()


@contextmanager
def report_memory(engine: Any, n_nodes: int, n_entries: int) -> Iterator[None]:
    """Turn an engine's errors for lack of memory into ours, with the sizes."""
    try:
        yield
    except engine.memory_errors as error:
        free, total = engine.measure_memory()
        engine.free_memory()
        raise DeviceMemoryError(engine.name, n_nodes, n_entries, free, total) from error
