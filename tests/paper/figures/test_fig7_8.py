"""Figures 7 and 8: values against distances."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker.paper import draw_figure, make_table
from gradraker.paper.figures.fig7_8 import simulate_pairs
from gradraker.paper.simulations import PaperResults, RunOptions


def test_pairs_are_drawn_as_often_as_they_are_counted(results: PaperResults) -> None:
    axes = draw_figure(results, "fig7").axes[0]
    _, *rows = make_table(results, "fig7")
    points = next(line for line in axes.lines if line.get_label() == "Pair of nodes")
    assert len(points.get_xdata()) == sum(row[2] for row in rows) == 35 * 34 // 2  # type: ignore[arg-type]


def test_simulate_pairs_equals_a_loop_over_pairs(
    small: Any, draw_dense_split: Callable[..., Any]
) -> None:
    settings = {
        "fraction": 0.4,
        "n_repeats": 2,
        "squared_distances": [4.0, 1000.0],
        "limits": [0.4, 0.1],
    }
    found = simulate_pairs(small, settings, RunOptions(3))
    assert found["differences"]["1000"] == []  # no pair is so far apart
    for repeat in range(2):
        split, X = draw_dense_split(small, repeat)
        rows, y = X[split.known], small.values[split.known]
        pairs = [
            (float(np.sum((rows[i] - rows[j]) ** 2)), round(abs(y[i] - y[j]), 12))
            for i, j in itertools.combinations(range(len(rows)), 2)
        ]
        here = [gap for distance, gap in pairs if distance == 4.0]
        above = np.mean([gap > 0.4 for gap in here])
        assert found["differences"]["4"][repeat] == pytest.approx([len(here), max(here), above])
        if repeat == 0:
            counted = {(distance, gap): n for distance, gap, n in found["table"]}
            assert counted == {pair: pairs.count(pair) for pair in pairs}
