"""Section III: conformity factors over triples of nodes."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker.datasets import GraphDataset
from gradraker.paper.numbers.section_iii import simulate_triples
from gradraker.paper.paper_data import PaperGraph
from gradraker.paper.plan import RunOptions


def test_simulate_triples_equals_a_loop_over_triples(draw_dense_split: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    data = GraphDataset(rng.random((15, 15)), rng.random(15), list("abcdefghijklmno"), name="w")  # type: ignore[arg-type]
    graph = PaperGraph(data.adjacency, data.scale_values(), data, {})
    settings = {"fraction": 0.4, "n_repeats": 2, "sigma2": 0.7}
    found = simulate_triples(graph, settings, RunOptions(3))
    for repeat in range(2):
        split, X = draw_dense_split(graph, repeat)
        D = [[np.sum((a - b) ** 2) for b in X[split.known]] for a in X[split.known]]
        exponents = [
            -(D[i][k] + D[k][j] - D[i][j]) / (2.0 * 0.7)
            for i, k, j in itertools.permutations(range(len(D)), 3)
        ]
        assert found["largest_ratio"][repeat] == pytest.approx(np.exp(max(exponents)))
        assert found["part_above"][repeat] == pytest.approx(np.mean(np.array(exponents) > 0.0))
