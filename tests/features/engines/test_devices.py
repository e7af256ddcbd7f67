"""The choice of an engine, and lack of memory in words."""

import sys
from typing import Any

import pytest

from gradraker.exceptions import DeviceMemoryError, NoDeviceError
from gradraker.features.engine import CpuEngine
from gradraker.features.engines.cuda import make_cuda_engine
from gradraker.features.engines.cuda_source import ENTRIES, list_names
from gradraker.features.engines.devices import choose_engine, report_memory
from oracles.strict_engine import NoRoomError, StrictEngine


def test_choose_engine_takes_the_cpu() -> None:
    assert isinstance(choose_engine("cpu"), CpuEngine)


def test_choose_engine_names_the_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    make_cuda_engine.cache_clear()
    with pytest.raises(NoDeviceError, match=r"pip install 'gradraker\[cuda\]'"):
        choose_engine("cuda")


def test_report_memory_leaves_other_errors_alone() -> None:
    engine: Any = StrictEngine()
    with pytest.raises(KeyError), report_memory(engine, 1, 1):
        raise KeyError
    with pytest.raises(DeviceMemoryError) as caught, report_memory(engine, 5, 7):
        raise NoRoomError
    assert (caught.value.n_nodes, caught.value.n_entries) == (5, 7)


def test_lanes_of_a_row_fit_into_a_warp() -> None:
    assert all(32 % (c * e) == 0 for c, e in ENTRIES.items())
    assert len(set(list_names("double", 2).values())) == 2 * len(ENTRIES)
