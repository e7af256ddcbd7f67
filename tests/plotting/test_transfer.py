"""Differences of values against distances of rows, read back from the axes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker import load_temperature
from gradraker.explain import similarity_transfer
from gradraker.plotting import SimilarityTransferDisplay
from gradraker.plotting.transfer import _choose_edges


def lines(display: SimilarityTransferDisplay) -> dict[str, Any]:
    """Lines by label."""
    return {line.get_label(): line for line in display.ax_.get_lines()}  # type: ignore[misc]


def legend(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_few_pairs_are_points() -> None:
    x, y = [0.0, 1.0, 1.0, 4.0], [0.1, 0.3, 0.5, 0.2]
    display = SimilarityTransferDisplay(x, y, title="Head").plot()
    drawn = lines(display)
    assert drawn["Pair of nodes"].get_xydata().tolist() == [list(p) for p in zip(x, y, strict=True)]
    assert drawn["Median"].get_xydata().tolist() == [[0.0, 0.1], [1.0, 0.4], [4.0, 0.2]]
    assert drawn["Quartiles"].get_ydata().tolist() == pytest.approx([0.1, 0.35, 0.2])
    assert legend(display) == ["Pair of nodes", "Quartiles", "Median"]
    assert display.ax_.get_legend().get_title().get_text() == "Head"  # type: ignore[union-attr]
    assert display.ax_.get_xlabel() == r"Squared distance of adjacency vectors $\|d_{i,j}\|^2$"


def test_many_pairs_are_counted() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 4000), rng.integers(0, 7, 4000) / 6
    display = SimilarityTransferDisplay(x, y).plot()
    (cells,) = display.ax_.collections
    counts = cells.get_array()
    assert counts is not None
    assert counts.shape == (7, 5)  # one cell for each difference and distance
    assert counts is not None
    assert counts[2, 3] == np.sum((x == 3) & (np.round(6 * y) == 2))
    assert counts is not None
    assert counts.sum() == 4000
    assert "Pair of nodes" not in legend(display)
    (_, bar) = display.figure_.axes
    assert bar.get_ylabel() == "Pairs of nodes in a cell"


def test_running_median_keeps_equal_distances_together() -> None:
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0, 2.0, 9.0], [300, 500, 199, 1])
    y = rng.random(1000)
    display = SimilarityTransferDisplay(x, y)
    # A single pair is no group of its own.
    assert display.distances.tolist() == pytest.approx([0.0, 1.0, (2 * 199 + 9) / 200])
    for i, part in enumerate((slice(300), slice(300, 800), slice(800, 1000))):
        assert display.quartiles[:, i] == pytest.approx(np.quantile(y[part], [0.25, 0.5, 0.75]))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(8.0),
        np.arange(350.0),
        np.array([2.0, 3.0, 7.0]),
        np.abs(np.subtract.outer(np.arange(7) / 6, np.arange(7) / 6)).ravel(),
        np.arange(101) * 0.01,
        np.random.default_rng(0).random(5000),
        np.array([3.0, 3.0]),
        np.array([0.0, 1e-9, 1.0]),
    ],
)
def test_cells_hold_all_values(values: NDArray[np.float64]) -> None:
    edges = _choose_edges(values)
    assert edges.size <= 62
    counts, _ = np.histogram(values, bins=edges)
    assert counts.sum() == values.size


def test_cells_of_integers_have_no_stripes() -> None:
    edges = _choose_edges(np.arange(350.0))
    counts, _ = np.histogram(np.arange(350.0), bins=edges)
    assert set(counts[:-1].tolist()) == {6}


def test_pairs_of_data() -> None:
    data = load_temperature()
    found = similarity_transfer(data.adjacency, data.values)
    display = SimilarityTransferDisplay.from_data(data.adjacency, data.values)
    assert np.array_equal(display.squared_distances, found.squared_distances)
    assert np.array_equal(display.value_differences, found.value_differences)
    head = found.plot().ax_.get_legend().get_title().get_text()
    assert head == "Relative error 0.27, rank correlation 0.41"
    few = SimilarityTransferDisplay.from_data([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    assert few.squared_distances.size == 3


def test_cells_have_the_values_in_the_middle() -> None:
    # Differences of sixths differ from sixths by rounding.
    sixths = np.abs(np.subtract.outer(np.arange(7) / 6, np.arange(7) / 6)).ravel()
    assert np.unique(sixths).size > 7
    np.testing.assert_allclose(_choose_edges(sixths), (np.arange(8) - 0.5) / 6)
