"""B, F and α against time, and nodes by distance, read back from the axes."""

from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from axes_content import legend, lines
from gradraker import SKGRegressor
from gradraker.plotting import ConformityDisplay, ContributionWeightsDisplay, NodeDistancesDisplay

B = [0.2, 0.05, 0.1, 0.2]
F = [0.1024, -0.02, 0.08, 0.2]
HOLE = 0.12  # room around the unknown node, as part of the largest distance


def test_weights_are_drawn_at_their_times() -> None:
    display = ContributionWeightsDisplay(B, F, learning_rate=0.1, epoch_ends=[2]).plot()
    drawn = lines(display)
    assert drawn["$B_{i,T+1}$"].get_xydata().tolist() == [[i + 1, b] for i, b in enumerate(B)]
    assert drawn["$F_{i,T+1}$"].get_xydata().tolist() == [[i + 1, f] for i, f in enumerate(F)]
    (stems,) = display.ax_.collections
    assert [s.tolist() for s in stems.get_segments()] == [  # type: ignore[attr-defined]
        [[i + 1, 0.0], [i + 1, f]] for i, f in enumerate(F)
    ]
    assert drawn[r"$2\eta$"].get_ydata() == [0.2, 0.2]
    assert drawn["End of epoch"].get_xdata() == [2.5, 2.5]  # between the times 2 and 3
    assert legend(display) == [
        "$B_{i,T+1}$", "$F_{i,T+1}$", "Noise range of $F$", r"$2\eta$", "End of epoch",
    ]  # fmt: skip
    assert display.ax_.get_xlabel() == "Training time $i$ (nodes seen)"
    assert display.ax_.get_ylabel() == "$B_{i,T+1}$ and $F_{i,T+1}$"


def test_noise_range_is_shaded() -> None:
    display = ContributionWeightsDisplay(B, F, learning_rate=0.1).plot()
    assert display.noise_range == (-0.02, 0.02)
    (shade,) = display.ax_.patches
    assert (shade.get_y(), shade.get_height()) == pytest.approx((-0.02, 0.04))  # type: ignore[attr-defined]
    assert legend(display)[-1] == r"$2\eta$"  # no epochs, no word of them


def test_weights_display_from_an_estimator(temperature: tuple[Any, ...]) -> None:
    model, X = temperature
    explanation = model.explain(X)
    display = ContributionWeightsDisplay.from_estimator(model, X, row=5)
    drawn = lines(display)
    assert np.array_equal(drawn["$B_{i,T+1}$"].get_xdata(), np.arange(1, 109))
    np.testing.assert_allclose(
        drawn["$B_{i,T+1}$"].get_ydata(), explanation.similarities[5][explanation.order]
    )
    np.testing.assert_allclose(drawn["$F_{i,T+1}$"].get_ydata(), explanation.by_time[5])
    assert display.epoch_ends.tolist() == [36, 72]
    assert display.learning_rate == model.learning_rate
    assert display.ax_.get_legend().get_title().get_text() == r"Node 5, $\sigma^2$ = 2"  # type: ignore[union-attr]


def test_epochs_are_marked_only_if_training_was_in_epochs(temperature: tuple[Any, ...]) -> None:
    _, X = temperature
    more = SKGRegressor(sigma2=2.0, random_state=0).fit(X[:10], np.arange(10.0))
    more.partial_fit(X[10:12], [1.0, 2.0])
    assert more.explain(X).plot().epoch_ends.size == 0
    once = SKGRegressor(sigma2=2.0, n_epochs=1, random_state=0).fit(X[:10], np.arange(10.0))
    assert once.explain(X).plot().epoch_ends.size == 0
    # Four steps of two nodes, but the first node came three times before the second.
    apart = SKGRegressor(sigma2=2.0, n_epochs=3, random_state=0).fit(X[:1], [1.0])
    apart.partial_fit(X[1:2], [2.0])
    assert apart.explain(X).plot().epoch_ends.size == 0


def test_conformity_factors_are_drawn_where_they_exist() -> None:
    display = ConformityDisplay(B, F, learning_rate=0.1).plot()
    (label,) = [name for name in lines(display) if "alpha" in name]
    assert label == r"$\alpha_{T+1-i}$ (none at 2 of 4 times)"
    np.testing.assert_allclose(lines(display)[label].get_ydata(), [0.2, np.nan, 0.2, np.nan])
    assert display.ax_.get_ylabel() == r"Conformity factor $\alpha_{T+1-i}$"
    assert lines(display)[r"$2\eta$"].get_ydata() == [0.2, 0.2]


def test_nodes_are_placed_by_distance() -> None:
    squared = np.array([0.0, 4.0, 16.0, 4.0, 4.0, 1.0])
    weights = np.array([0.5, 0.1, 0.0, 0.3, 0.2, 0.4])
    display = NodeDistancesDisplay(squared, weights, efficient_distance=9.0).plot()
    assert display.radii.tolist() == [0, 2, 4, 2, 2, 1]
    (nodes,) = display.ax_.collections
    drawn = np.hypot(*nodes.get_offsets().T)  # type: ignore[union-attr]
    shade = np.asarray(nodes.get_array())
    lightest_first = np.argsort(weights)
    np.testing.assert_allclose(drawn, (display.radii + HOLE * 4.0)[lightest_first])
    np.testing.assert_allclose(shade, weights[lightest_first])
    assert (np.diff(nodes.get_sizes()) > 0).all()  # type: ignore[attr-defined]
    # Three nodes of equal distance are a third of a turn apart.
    ring = np.sort(display.angles[[1, 3, 4]] % (2 * np.pi))
    np.testing.assert_allclose(np.diff(ring), 2 * np.pi / 3)
    circle = lines(display)["Efficient distance, ‖d‖ = 3.00"].get_xydata()
    np.testing.assert_allclose(np.hypot(*circle.T), 3.0 + HOLE * 4.0)
    assert lines(display)["Unknown node"].get_xydata().tolist() == [[0.0, 0.0]]
    assert legend(display) == ["Unknown node", "Known node", "Efficient distance, ‖d‖ = 3.00"]
    assert {text.get_text() for text in display.ax_.texts} == {f"‖d‖ = {i}" for i in range(5)}


def test_heavy_nodes_of_a_ring_are_not_together() -> None:
    weights = np.arange(100.0)
    angles = NodeDistancesDisplay(np.ones(100), weights).angles
    np.testing.assert_allclose(np.diff(np.sort(angles % (2 * np.pi))), 2 * np.pi / 100)
    heavy = np.sort(angles[-5:] % (2 * np.pi))
    gaps = np.append(np.diff(heavy), heavy[0] + 2 * np.pi - heavy[-1])
    assert gaps.min() > 2 * np.pi / 10


def test_rings_of_single_nodes_do_not_line_up() -> None:
    angles = NodeDistancesDisplay(np.arange(1.0, 9.0), np.ones(8)).angles
    apart = np.abs(np.exp(1j * angles)[:, None] - np.exp(1j * angles)) + 10 * np.eye(8)
    assert apart.min() > 0.4


def test_distances_equal_up_to_rounding_share_a_ring() -> None:
    squared = np.array([0.3, 0.1 + 0.2, 1.0])
    assert squared[0] != squared[1]
    angles = NodeDistancesDisplay(squared, [1.0, 0.5, 0.1]).angles
    assert abs(angles[0] - angles[1]) == pytest.approx(np.pi)


@pytest.mark.parametrize(
    ("weights", "limits", "name"),
    [
        ([0.4, 0.1, 0.0], (0.0, 0.4), "Blues"),
        ([0.4, 0.1, -0.02], (0.0, 0.4), "Blues"),
        ([0.4, 0.1, -0.1], (-0.4, 0.4), "RdBu"),
        ([0.1, 0.0, -0.3], (-0.3, 0.3), "RdBu"),
    ],
)
def test_negative_weights_that_matter_have_their_own_colour(
    weights: list[float], limits: tuple[float, float], name: str
) -> None:
    display = NodeDistancesDisplay([1.0, 2.0, 3.0], weights).plot()
    (nodes,) = display.ax_.collections
    assert nodes.get_clim() == limits
    assert nodes.get_cmap().name == name
    (_, bar) = display.figure_.axes
    assert bar.get_ylabel() == "Contribution weight"


@pytest.mark.parametrize(
    ("efficient", "last"),
    [
        (None, "Known node"),
        (np.nan, "No significant weight"),
        (900.0, "Efficient distance, ‖d‖ = 30.00, farther out"),
    ],
)
def test_no_circle_without_a_distance_that_fits(efficient: float | None, last: str) -> None:
    display = NodeDistancesDisplay([1.0, 4.0], [0.5, 0.2], efficient_distance=efficient).plot()
    assert legend(display)[-1] == last
    assert all(len(line.get_xdata()) <= 1 for line in display.ax_.get_lines())  # type: ignore[arg-type]
    assert display.ax_.get_xlim()[1] < 3.0


def test_distances_display_from_an_estimator(temperature: tuple[Any, ...]) -> None:
    model, X = temperature
    explanation = model.explain(X)
    display = NodeDistancesDisplay.from_estimator(model, X, row=7)
    np.testing.assert_allclose(display.squared_distances, explanation.squared_distances[7])
    np.testing.assert_allclose(display.weights, explanation.weights[7])
    assert display.efficient_distance == pytest.approx(explanation.efficient_distance(7))
    assert display.ax_.get_title() == r"Node 7, $\sigma^2$ = 2"


def test_known_nodes_at_distance_0_are_drawn() -> None:
    display = NodeDistancesDisplay([0.0, 0.0], [0.0, 0.0], efficient_distance=0.0).plot()
    FigureCanvasAgg(display.figure_).draw()  # type: ignore[no-untyped-call]
    (nodes,) = display.ax_.collections
    np.testing.assert_allclose(np.hypot(*nodes.get_offsets().T), HOLE)  # type: ignore[union-attr]
