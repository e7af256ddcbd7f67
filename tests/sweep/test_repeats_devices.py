"""Sweeps on another device: the same errors as on the CPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import load_temperature, sigma2_sweep
from gradraker.exceptions import ArgumentError, NoDeviceError
from gradraker.features.engine import ENGINES
from gradraker.features.engines.cuda import make_cuda_engine
from gradraker.sweep import repeats
from oracles.strict_engine import StrictEngine

OPTIONS: dict[str, Any] = {"n_repeats": 5, "n_frequencies": 30, "sigma2": [0.5, 5.0, 50.0]}


def test_sweep_on_the_other_device_equals_that_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(ENGINES, "cuda", StrictEngine)
    monkeypatch.setattr(repeats, "MIN_SINES_FOR_DEVICE", 0)
    expected = sigma2_sweep(load_temperature(), **OPTIONS)
    stages = []
    found = sigma2_sweep(
        load_temperature(),
        **OPTIONS,
        device="cuda",
        checkpoint=tmp_path / "sweep.jsonl",
        progress=lambda *stage: stages.append(stage),
    )
    np.testing.assert_allclose(found.gnmse, expected.gnmse, rtol=1e-9)
    np.testing.assert_array_equal(found.boundaries, expected.boundaries)
    assert [done for _, done, _ in stages] == list(range(6))
    again = sigma2_sweep(load_temperature(), **OPTIONS, checkpoint=tmp_path / "sweep.jsonl")
    np.testing.assert_allclose(again.gnmse, found.gnmse, rtol=1e-12)


def test_sweep_refuses_a_missing_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Any:
        raise NoDeviceError("CuPy finds no GPU")

    monkeypatch.setitem(ENGINES, "cuda", refuse)
    with pytest.raises(NoDeviceError, match="finds no GPU"):
        sigma2_sweep(load_temperature(), **OPTIONS, device="cuda")
    with pytest.raises(ArgumentError, match="device must be"):
        sigma2_sweep(load_temperature(), **OPTIONS, device="gpu")
    with pytest.warns(UserWarning, match="takes the CPU"):
        sigma2_sweep(load_temperature(), **OPTIONS, device="auto")


@pytest.mark.parametrize("n_frequencies", [30, 200, 1500])
def test_sweep_on_the_gpu_equals_that_on_the_cpu(
    n_frequencies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats, "MIN_SINES_FOR_DEVICE", 0)
    try:
        make_cuda_engine()
    except NoDeviceError as error:
        pytest.skip(str(error))
    options = OPTIONS | {"n_frequencies": n_frequencies}
    expected = sigma2_sweep(load_temperature(), **options)
    found = sigma2_sweep(load_temperature(), **options, device="cuda")
    np.testing.assert_allclose(found.gnmse, expected.gnmse, rtol=1e-8)
