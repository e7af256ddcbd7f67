"""Losses of left-out predictions against their definitions."""

import numpy as np
import pytest

from gradraker.models.walks.judges import find_sharpness, is_better, judge_classes, judge_numbers


def test_judge_numbers_returns_squared_errors() -> None:
    Y, P = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.5, 2.0], [3.0, 1.0]])
    losses, offset = judge_numbers(Y)(P)
    assert losses.tolist() == [0.25, 9.0]
    assert offset == 1.0


def test_find_sharpness_has_the_smallest_log_loss_of_the_grid() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 3))
    codes = rng.integers(0, 3, 50)
    expected = {}
    for sharpness in np.logspace(0.0, 2.0, 13):
        p = np.exp(sharpness * scores)
        expected[sharpness] = -np.mean(np.log(p[np.arange(50), codes] / p.sum(axis=1)))
    loss, sharpness = find_sharpness(scores.copy(), codes)
    best = min(expected, key=lambda sharpness: expected[sharpness])
    assert sharpness == pytest.approx(best)
    assert loss == pytest.approx(expected[best])


def test_judge_classes_adds_errors_and_probabilities() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 60)
    Y = np.eye(3)[codes]
    frequencies = Y.mean(axis=0)
    predictions = 0.2 * Y + 0.8 * rng.dirichlet(np.ones(3), 60)
    losses, offset = judge_classes(Y, frequencies)(predictions)
    scores = predictions - (1.0 - offset) * frequencies
    _, sharpness = find_sharpness(scores - scores.max(axis=1, keepdims=True), codes)
    p = np.exp(2.0 * sharpness * (scores - scores.max(axis=1, keepdims=True)))
    own = p[np.arange(60), codes] / p.sum(axis=1)
    wrong = scores.argmax(axis=1) != codes
    assert 0 < wrong.sum() < 60
    expected = 1.0 - own + wrong
    np.testing.assert_allclose(losses, expected, atol=1e-12)


def test_judge_classes_finds_the_offset_that_scores_need() -> None:
    rng = np.random.default_rng(1)
    frequencies = np.array([0.8, 0.2])
    codes = (rng.random(2000) < 0.2).astype(int)
    Y = np.eye(2)[codes]
    signal = 0.3 * (Y - 0.5) + 0.3 * rng.normal(size=(2000, 1)) * np.array([1.0, -1.0])
    # Scores that hold a class's frequency in full, though each node was as likely of either.
    balanced = rng.integers(0, 2, 2000)
    of_balanced = np.eye(2)[balanced]
    even = 0.3 * (of_balanced - 0.5) + 0.2 * rng.normal(size=(2000, 1)) * np.array([1.0, -1.0])
    _, offset = judge_classes(of_balanced, frequencies)(even + frequencies)
    assert offset == 0.0
    _, offset = judge_classes(of_balanced, frequencies, (1.0, 0.5, 0.0))(even + frequencies)
    assert offset == 0.0
    # Scores without the frequencies, of nodes that have them: taking off more is clearly worse.
    _, offset = judge_classes(Y, frequencies)(signal + 0.5 * (frequencies - 0.5))
    assert offset == 1.0


def test_is_better_asks_more_of_few_nodes() -> None:
    rng = np.random.default_rng(0)
    old = rng.random(400)
    # A gain of 3 standard errors: enough for 400 nodes (2 needed), not for 25 (5 needed).
    noise = rng.normal(size=400)
    noise = (noise - noise.mean()) / noise.std()
    assert is_better(old, old - 0.1 * (3.0 / 20.0 + noise))
    few = noise[:25]
    few = (few - few.mean()) / few.std()
    assert not is_better(old[:25], old[:25] - 0.1 * (3.0 / 5.0 + few))
    assert is_better(old[:25], old[:25] - 0.1 * (5.5 / 5.0 + few))
    assert not is_better(old, old)
    assert is_better(old[:25], old[:25] - 0.1 * (4.5 / 5.0 + few), errors=0.0)


def test_judge_classes_takes_the_first_offset_where_none_is_clearly_better() -> None:
    Y = np.eye(2)[[0, 1, 0, 1]]
    judge = judge_classes(Y, np.array([0.5, 0.5]), (0.5, 0.0, 1.0))
    assert judge(Y)[1] == 0.5
