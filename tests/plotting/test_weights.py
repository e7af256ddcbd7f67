"""B, F and α against time, read back from the axes."""

from typing import Any

import numpy as np
import pytest

from axes_content import legend, lines
from gradraker import SKGRegressor
from gradraker.plotting import (
    ConformityDisplay,
    ContributionWeightsDisplay,
)

B = [0.2, 0.05, 0.1, 0.2]

F = [0.1024, -0.02, 0.08, 0.2]


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


def test_weights_of_a_model(temperature: tuple[Any, ...]) -> None:
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


def test_conformity_is_drawn_where_there_is_one() -> None:
    display = ConformityDisplay(B, F, learning_rate=0.1).plot()
    (label,) = [name for name in lines(display) if "alpha" in name]
    assert label == r"$\alpha_{T+1-i}$ (none at 2 of 4 times)"
    np.testing.assert_allclose(lines(display)[label].get_ydata(), [0.2, np.nan, 0.2, np.nan])
    assert display.ax_.get_ylabel() == r"Conformity factor $\alpha_{T+1-i}$"
    assert lines(display)[r"$2\eta$"].get_ydata() == [0.2, 0.2]
