"""Figure 1: the four ranges, and the sweeps that figures show."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from gradraker import load_temperature, sigma2_sweep
from gradraker.paper import draw_figure, run_paper
from gradraker.paper.figures.fig1 import SWEEPS
from gradraker.paper.simulations import PaperResults, compute_checksum


def test_draw_shades_and_marks_the_four_ranges(results: PaperResults) -> None:
    axes = draw_figure(results, "fig1").axes[0]
    names = [text.get_text() for text in axes.texts]
    assert names == ["Chaos", "Extending", "Disturbing", "Averaging"]
    marked = sorted(line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1)  # type: ignore[arg-type, index, type-var]
    sweep = results.simulations["sweep-temperature"]["results"]
    boundaries = np.median(sweep["boundaries"], axis=0)
    assert set(boundaries) <= set(marked)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert any("sigma^2_{ce}" in label for label in labels)
    assert any("sigma^2_{da}" in label for label in labels)


def test_four_levels_agree_only_if_the_curve_falls_and_rises(
    changed: PaperResults, compare: Callable[..., Any]
) -> None:
    sweep = changed.simulations["sweep-temperature"]["results"]
    n = len(sweep["sigma2"])
    sweep["gnmse"] = [np.linspace(1.0, 0.02, n).tolist()] * 3  # it never gets worse
    assert compare(changed)["four-levels"].verdict == "differs"
    sweep["gnmse"] = [(0.02 + np.abs(np.linspace(-1.0, 1.0, n))).tolist()] * 3
    assert compare(changed)["four-levels"].verdict == "agrees"


def test_largest_distance_differs_if_no_repeat_has_it(
    changed: PaperResults, compare: Callable[..., Any]
) -> None:
    sweep = changed.simulations["sweep-temperature"]["results"]
    sweep["squared_distances"] = [[1.0, 26.0], [1.0, 27.0], [1.0, 28.0]]
    assert compare(changed)["d2max-temperature"].verdict == "agrees"
    sweep["squared_distances"] = [[1.0, 28.0], [1.0, 29.0], [1.0, 30.0]]
    finding = compare(changed)["d2max-temperature"]
    assert finding.verdict == "differs"
    assert finding.shown == "29 (28…30)"


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


def test_records_hold_settings_seed_and_values_for_json(no_data: None) -> None:
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
