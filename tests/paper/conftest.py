"""Results of the paper's simulations with few repeats, from the embedded data alone."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker.datasets import GraphDataset
from gradraker.paper import PaperResults, compare_with_paper, read_results, run_paper
from gradraker.paper.simulations import PaperGraph, load_data


@pytest.fixture(scope="session")
def results(reproduced: tuple[Any, ...]) -> PaperResults:
    """Everything that the embedded data allow; not to be changed."""
    return read_results(reproduced[0] / "results.jsonl")


@pytest.fixture(scope="session")
def downloaded_results() -> PaperResults:
    """Numbers and two figures with the data sets that are in GRADRAKER_DATA; not to be changed."""
    return run_paper(["fig6d", "fig8", "numbers"], fast=True)


@pytest.fixture
def changed(results: PaperResults) -> PaperResults:
    """A copy of the results whose records a test may change."""
    return PaperResults(copy.deepcopy(results.header), copy.deepcopy(results.simulations))


def compare_by_key(results: PaperResults) -> dict[str, Any]:
    # Results are parsed once, but tests change records in between.
    fresh = PaperResults(results.header, results.simulations)
    return {finding.key: finding for finding in compare_with_paper(fresh)}


@pytest.fixture(scope="session")
def compare() -> Callable[..., Any]:
    """A function that returns the findings of results by their keys."""
    return compare_by_key


@pytest.fixture
def spoiled(changed: PaperResults) -> dict[str, Any]:
    """Findings for runs of figures 2 to 5 that contradict the statements of the paper."""
    runs = changed.simulations["weights"]["results"]["runs"]
    runs[1]["weights"] = [-0.1 for _ in runs[1]["weights"]]
    runs[0]["range"] = "extending"
    runs[3]["weights"] = runs[3]["weights"][::-1]
    runs[2]["similarities"][5] = -0.001
    runs[3]["similarities"][0] = 0.17
    runs[3]["predictions"] = changed.simulations["weights"]["results"]["values"]
    runs[1]["predictions"] = [5.0 for _ in runs[1]["predictions"]]
    # The mean is 1, but no sum is near it.
    n_unknown = len(runs[2]["sums_of_weights"])
    runs[2]["sums_of_weights"] = [0.5 + i / (n_unknown - 1) for i in range(n_unknown)]
    runs[2]["late_ranks"] = [0.7, 0.7, 0.9]
    runs[1]["efficient_distance"] = None
    runs[1]["similarities"] = [(-1.0) ** i for i in range(105)]
    runs[0]["weights"] = [0.05 for _ in runs[0]["weights"]]
    return compare_by_key(changed)


@pytest.fixture(scope="session")
def small() -> PaperGraph:
    """A graph of 40 nodes and three classes."""
    rng = np.random.default_rng(5)
    adjacency = (rng.random((40, 40)) < 0.15).astype(float)
    values = rng.integers(1, 4, 40).astype(float)
    values[:3] = [1.0, 2.0, 3.0]
    data = GraphDataset(adjacency, values, list(map(str, range(40))), name="small")  # type: ignore[arg-type]
    return PaperGraph(data.adjacency, data.scale_values(), data, {})


@pytest.fixture(scope="session")
def temperature() -> PaperGraph:
    return load_data("temperature", download=False)  # type: ignore[return-value]


@pytest.fixture(scope="session")
def draw_dense_split() -> Callable[..., Any]:
    """A function that returns a repeat's split, and adjacency vectors as a dense array."""

    def draw(graph: Any, repeat: Any, seed: Any = 3) -> Any:
        split = graph.draw_split(0.4, seed, repeat)
        return split, graph.adjacency.toarray()[:, split.known]

    return draw
