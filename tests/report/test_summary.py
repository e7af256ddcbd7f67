"""Summaries of jobs: JSON with the numbers of the result."""

import json
from typing import Any

import numpy as np
import pytest

import gradraker
from gradraker.models.left_out import LeftOut
from gradraker.report.summary import list_calibration
from gradraker.workflow.node_predictions import NodePredictions


def test_calibration_is_listed_by_probability() -> None:
    listed = list_calibration(np.array([0.92, 0.98]), np.array([True, False]))
    assert listed == [{"from": 0.9, "to": 1.0, "nodes": 2, "probability": 0.95, "right": 0.5}]


def test_summary_is_json_and_has_the_numbers_of_the_result(result: Any, summary: Any) -> None:
    again = json.loads(json.dumps(summary, allow_nan=False))
    assert again == summary
    assert summary["graph"]["nodes"] == 89
    assert summary["values"] | {} == summary["values"]
    assert (summary["values"]["known"], summary["values"]["unknown"]) == (60, 29)
    assert summary["values"]["mean"] == pytest.approx(result.model.offset_)
    assert summary["sigma2"]["value"] == result.model.skg_.sigma2_
    assert summary["sigma2"]["range"] == result.model.skg_.ranges_.find_range(
        result.model.skg_.sigma2_
    )
    assert summary["held_out"]["rmse"] == result.left_out.error.rmse
    assert summary["transfer"]["verdict"] == result.model.measure_transfer().verdict
    unknown = {one["node"]: one["prediction"] for one in summary["predictions"]}
    expected = {
        node: prediction
        for node, prediction, known in zip(
            result.nodes, result.predictions, result.is_known, strict=True
        )
        if not known
    }
    assert unknown == expected


def test_largest_errors_are_explained_by_the_model_that_had_not_seen_them(
    result: NodePredictions, summary: dict[str, Any]
) -> None:
    held_out = result.left_out
    worst = summary["held_out"]["largest_errors"]
    errors = [abs(one["error"]) for one in worst]
    assert errors == sorted(errors, reverse=True)
    assert isinstance(held_out, LeftOut)
    assert errors[0] == pytest.approx(np.abs(held_out.predictions - held_out.values).max())
    tested = {point["node"] for point in summary["held_out"]["points"]}
    for one in worst:
        assert len(one["contributors"]) == 3
        # A node that was held out cannot have contributed to anything.
        assert tested.isdisjoint(other["node"] for other in one["contributors"])


def test_values_of_contributors_are_those_of_the_data(summary: dict[str, Any]) -> None:
    data = gradraker.load_temperature()
    value = dict(zip(data.node_names, data.values.tolist(), strict=True))
    for one in summary["predictions"]:
        assert [other["value"] for other in one["contributors"]] == [
            value[other["node"]] for other in one["contributors"]
        ]
