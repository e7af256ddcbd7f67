"""The summary and the page of a sweep."""

import json
import math
import re

import pytest

from gradraker import load_temperature, sigma2_sweep
from gradraker.report import render_sweep, summarize_sweep
from sweep_by_hand import by_hand, made


def test_the_summary_is_json_and_says_where_the_best_is() -> None:
    summary = json.loads(json.dumps(summarize_sweep(by_hand()), allow_nan=False))
    assert summary["best"] == {
        "sigma2": 10.0,
        "gnmse": pytest.approx(0.2),
        "standard_error": pytest.approx(0.1),
        "at_the_end": False,
    }
    assert summary["theory"]["sigma2"] == 5.0
    assert [point["range"] for point in summary["curve"]] == [
        "chaos",
        "extending",
        "disturbing",
        "averaging",
    ]
    assert summary["boundaries"]["disturbing_averaging"]["largest"] == 50.0
    assert summarize_sweep(made([[0.1, 0.2, 0.3, 0.4]] * 2))["best"]["at_the_end"]


def test_a_summary_without_ranges_has_null() -> None:
    summary = summarize_sweep(made([[0.5, 0.3, 0.1, 0.2]], boundaries=(math.nan,) * 3))
    json.dumps(summary, allow_nan=False)
    assert summary["theory"] == {"sigma2": None, "gnmse": None}
    assert summary["curve"][0]["range"] is None
    assert summary["best"]["standard_error"] is None


def test_the_page_shows_all_numbers_and_escapes_names() -> None:
    result = sigma2_sweep(load_temperature(), n_repeats=2, sigma2=[0.5, 5.0, 50.0])
    result.settings["data"]["name"] = "<script>alert(1)</script>"
    page = render_sweep(result, inputs={"edges": "<b>edges.csv"})
    assert page == render_sweep(result, inputs={"edges": "<b>edges.csv"})
    assert "<script" not in page
    assert "<b>edges" not in page
    for mean in result.mean:
        assert f"<td>{mean:.4g}</td>" in page
    assert len(re.findall(r"<h2>", page)) == 4
    assert result.settings["data"]["sha256_values"] in page


def test_the_page_says_which_distance_it_means() -> None:
    for kernel, distance in (("gaussian", "‖d‖²"), ("laplacian", "‖d‖₁")):
        result = made([[0.5, 0.3, 0.1, 0.2]])
        result.settings["kernel"] = kernel
        assert f"Largest {distance} of known nodes" in render_sweep(result)


def test_a_page_without_ranges_can_be_made() -> None:
    page = render_sweep(made([[0.5, 0.3, 0.1, 0.2]], boundaries=(math.nan,) * 3))
    assert "none" in page
