"""The demonstration, with a learner whose predictions are known beforehand."""

from typing import Any

import numpy as np
import pytest

import gradraker
from constant_learner import draw_split
from gradraker.workflow.demo import run_demo


def test_run_demo_trains_on_the_known_part_of_the_graph(constant: type[Any]) -> None:
    known, _ = draw_split()
    data = gradraker.load_temperature("jan")
    run_demo(seed=0)
    assert constant.made.parameters == {
        "sigma2": "theory",
        "n_frequencies": 200,
        "learning_rate": 0.1,
        "n_epochs": 3,
        "random_state": 0,
    }
    expected = data.adjacency.toarray()[np.ix_(known, known)]
    np.testing.assert_array_equal(constant.made.X.toarray(), expected)
    np.testing.assert_allclose(constant.made.y, (data.values[known] + 14.0) / 16.7)


def test_run_demo_measures_errors_of_the_unknown_stations(constant: type[Any]) -> None:
    known, unknown = draw_split()
    celsius = gradraker.load_temperature("jan").values
    y = (celsius + 14.0) / 16.7
    result = run_demo(seed=0)
    summary = result.summary
    assert (summary["n_nodes"], summary["n_edges"]) == (89, 2515)
    assert (summary["n_sampled"], summary["n_tested"]) == (36, 53)
    assert summary["sigma2"] == 4.25
    energy = sum(y[unknown] ** 2)
    assert summary["gnmse"] == pytest.approx(sum((y[unknown] - 0.6) ** 2) / energy)
    mean = sum(y[known]) / 36
    assert summary["gnmse_of_mean"] == pytest.approx(sum((y[unknown] - mean) ** 2) / energy)

    assert np.flatnonzero(result.is_known).tolist() == sorted(known)
    np.testing.assert_allclose(result.predicted_c[unknown], -3.98)
    assert np.isnan(result.predicted_c[known]).all()

    errors = sorted(abs(celsius[unknown] + 3.98))
    assert [abs(one["error_c"]) for one in summary["best"]] == pytest.approx(errors[:3])
    assert [abs(one["error_c"]) for one in summary["worst"]] == pytest.approx(errors[:-4:-1])
    worst = summary["worst"][0]
    assert (worst["station"], worst["altitude_m"], worst["true_c"]) == (
        "Jungfraujoch",
        3571.0,
        -14.0,
    )
    assert worst["predicted_c"] == pytest.approx(-3.98)
    assert worst["error_c"] == pytest.approx(10.02)
