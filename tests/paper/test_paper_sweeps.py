"""Sweeps with the paper's settings."""

import json

import numpy as np

from gradraker import load_temperature, sigma2_sweep
from gradraker.paper import run_paper
from gradraker.paper.figures.fig1 import SWEEPS
from gradraker.paper.paper_data import compute_checksum
from gradraker.paper.simulations import PaperResults


def test_settings_are_those_of_the_paper() -> None:
    expected = {
        "temperature": (200, 0.1, 50),
        "temperature-weighted": (200, 0.1, 50),
        "cora": (888, 0.05, 30),
        "email": (403, 0.05, 50),
        "wikipedia": (500, 0.03, 50),
    }
    for key, (n_frequencies, learning_rate, n_repeats) in expected.items():
        settings = SWEEPS[key].choose_settings(fast=False)
        assert settings["n_frequencies"] == n_frequencies
        assert settings["learning_rate"] == learning_rate
        assert settings["n_repeats"] == n_repeats
        assert settings["n_epochs"] == 3
        assert settings["fraction"] == 0.4
        assert len(settings["sigma2"]) >= 40
        steps = np.diff(np.log(settings["sigma2"]))
        np.testing.assert_allclose(steps, steps.mean(), rtol=1e-2)


def test_records_hold_settings_seed_and_values_that_json_can_hold(no_data: None) -> None:
    results = run_paper(["fig1", "frequencies"], fast=True, random_state=9)
    for simulation in results.simulations.values():
        assert simulation["settings"]["random_state"] == 9
        json.dumps(simulation, allow_nan=False)
    data = load_temperature()
    settings = SWEEPS["temperature"].choose_settings(fast=True)
    settings["fraction"] = 35 / 89  # 40 % of 89 stations, rounded down
    sweep = sigma2_sweep(data, **settings, random_state=9)
    assert results.simulations["sweep-temperature"]["results"]["gnmse"] == sweep.gnmse.tolist()
    expected = compute_checksum(data.adjacency, data.scale_values())
    assert results.header["datasets"]["temperature"]["sha256"] == expected


def test_parsed_sweep_equals_the_sweep_that_was_run(results: PaperResults) -> None:
    sweep = results.get(SWEEPS["temperature"])
    settings = SWEEPS["temperature"].choose_settings(fast=True)
    settings["fraction"] = 35 / 89
    expected = sigma2_sweep(load_temperature(), **settings, random_state=0)
    for name in ("sigma2", "gnmse", "boundaries", "squared_distances"):
        np.testing.assert_array_equal(getattr(sweep, name), getattr(expected, name))
