"""Filtered series against loops over nodes, times and taps, and refused arguments."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gradraker import adjacency_vectors
from gradraker.graph import filtered_signals
from oracles.filters import filtered_rows, shift_matrix

PATH = [("a", "b"), ("b", "c")]
SERIES = np.arange(12.0).reshape(4, 3)
NAMED = ["adjacency", "laplacian", "normalised"]

seeds = st.integers(0, 2**32 - 1)


def example(seed: int, n: Any = 4, n_times: int = 5) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 3, (n, n)) * rng.random((n, n))
    A[rng.integers(n)] = 0.0  # a node without edges out of it
    return A, rng.standard_normal((n_times, n))


@settings(deadline=None)
@given(
    seeds,
    st.integers(1, 4),
    st.integers(0, 2),
    st.sampled_from(NAMED),
    st.sampled_from(["drop", "zeros"]),
    st.booleans(),
)
def test_rows_are_those_of_the_definition(
    seed: Any, taps: Any, delay: Any, shift: Any, padding: Any, unit_norm: Any
) -> None:
    A, x = example(seed, n_times=7)
    S = shift_matrix(shift, A)
    if unit_norm and S.any():
        S = S / np.linalg.svd(S, compute_uv=False)[0]
    found = filtered_signals(
        A, x, taps=taps, delay=delay, shift=shift, padding=padding, unit_norm=unit_norm
    )
    expected = filtered_rows(S, x, taps, delay, padding)
    np.testing.assert_allclose(found.rows, expected, rtol=1e-10, atol=1e-12)


@settings(deadline=None)
@given(seeds)
def test_any_matrix_can_be_the_shift(seed: Any) -> None:
    A, x = example(seed)
    S = np.random.default_rng([seed, 1]).standard_normal((4, 4))
    expected = filtered_rows(S, x, 3, 1, "drop")
    for form in (S, sp.coo_array(S), sp.csc_matrix(S), S.tolist()):
        found = filtered_signals(A, x, shift=form, unit_norm=False)
        np.testing.assert_allclose(found.rows, expected, rtol=1e-10, atol=1e-12)


@settings(deadline=None)
@given(seeds, st.permutations(range(4)), st.sampled_from(NAMED))
def test_relabelling_nodes_permutes_rows(seed: Any, order: Any, shift: Any) -> None:
    A, x = example(seed)
    original = filtered_signals(A, x, shift=shift).rows.reshape(-1, 4, 3)
    turned = filtered_signals(A[np.ix_(order, order)], x[:, order], shift=shift)
    expected = original[:, order]
    np.testing.assert_allclose(turned.rows.reshape(-1, 4, 3), expected, rtol=1e-9, atol=1e-12)


def test_a_directed_path_by_hand() -> None:
    # b's second tap is c one step before; nothing comes after c.
    signals = filtered_signals(PATH, SERIES, taps=3)
    assert signals.rows.tolist() == [
        [6, 4, 2],
        [7, 5, 0],
        [8, 0, 0],
        [9, 7, 5],
        [10, 8, 0],
        [11, 0, 0],
    ]
    assert signals.times.tolist() == [2, 2, 2, 3, 3, 3]
    assert signals.row_nodes.tolist() == ["a", "b", "c", "a", "b", "c"]
    assert signals.references == ("S^0 x(t)", "S^1 x(t-1)", "S^2 x(t-2)")
    into = adjacency_vectors(PATH, direction="in")
    turned = filtered_signals(into, SERIES, taps=2)
    assert turned.rows[:3].tolist() == [[3, 0], [4, 0], [5, 1]]
    assert turned.nodes.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="adjacency vectors with other references than nodes"):
        filtered_signals(adjacency_vectors(PATH, nodes=["a", "c"]), SERIES)


def test_laplacian_and_normalised_laplacian_by_hand() -> None:
    star = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0.0]])
    x = [[6.0, 1, 2, 4]]
    options: dict[str, Any] = {"taps": 2, "delay": 0, "unit_norm": False}
    found = filtered_signals(star, x, shift="laplacian", **options).rows[:, 1]
    assert found.tolist() == [18 - 7, -5, -4, -2]
    found = filtered_signals(star, x, shift="normalised", **options).rows[:, 1]
    r = np.sqrt(3)
    np.testing.assert_allclose(found, [6 - 7 / r, 1 - 6 / r, 2 - 6 / r, 4 - 6 / r])


def test_one_tap_is_the_series_itself() -> None:
    signals = filtered_signals(PATH, SERIES, taps=1)
    assert np.array_equal(signals.rows[:, 0], SERIES.ravel())
    assert repr(signals) == "FilteredSignals(4 times × 3 nodes, 1 taps)"


def test_a_node_without_edges_has_only_its_first_tap() -> None:
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = 1.0
    x = np.arange(8.0).reshape(2, 4) + 1
    for shift in NAMED:
        rows = filtered_signals(A, x, taps=2, shift=shift).rows
        assert rows[2].tolist() == [7, 0]
    empty = filtered_signals(sp.csr_array((4, 4)), x, taps=2)
    assert not empty.rows[:, 1].any()


def test_values_before_the_start_are_zeros_with_padding() -> None:
    signals = filtered_signals(PATH, SERIES[:2], taps=4, padding="zeros")
    assert signals.rows.tolist() == [
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [2, 0, 0, 0],
        [3, 1, 0, 0],
        [4, 2, 0, 0],
        [5, 0, 0, 0],
    ]
    # Taps that look back beyond the first of all times are 0 throughout.
    signals = filtered_signals(PATH, SERIES, taps=6, padding="zeros", shift=np.eye(3))
    assert np.array_equal(signals.rows, filtered_rows(np.eye(3), SERIES, 6, 1, "zeros"))


def test_no_tap_outgrows_the_series_with_unit_norm() -> None:
    A, x = example(0)
    rows = filtered_signals(1e6 * A, x, taps=5, delay=0).rows.reshape(5, 4, 5)
    norms = np.linalg.norm(rows, axis=1)  # [times, taps]
    assert (np.diff(norms, axis=1) <= 1e-12).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"taps": 0}, "taps must be an integer of at least 1, got 0"),
        ({"taps": True}, "taps must be an integer"),
        ({"taps": 2.0}, "taps must be an integer"),
        ({"delay": -1}, "delay must be an integer of at least 0, got -1"),
        ({"taps": 5}, "taps=5 with delay=1 look 4 times back, but the series has 4 times"),
        ({"padding": "edge"}, "padding must be one of 'drop', 'zeros', got 'edge'"),
        ({"shift": "laplace"}, "shift must be one of 'adjacency', .* got 'laplace'"),
        ({"shift": np.eye(4)}, r"shift must be .* of shape \(3, 3\); got shape \(4, 4\)"),
        ({"shift": np.eye(3) * 1j}, "matrix of real numbers"),
        ({"shift": [[1.0, 2.0], [3.0]]}, "shift must be one of .* got lists of unequal lengths"),
        ({"unit_norm": "no"}, "unit_norm must be True or False, got 'no'"),
        ({"shift": np.full((3, 3), np.nan)}, "shift holds NaN or infinity"),
        ({"shift": np.eye(3) * 1e200, "unit_norm": False}, "values overflow after 3 taps"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        filtered_signals(PATH, SERIES + 1.0, **arguments)


def test_negative_weights_have_a_laplacian_but_no_normalised_one() -> None:
    signed = [("a", "b", -2.0), ("b", "c", 1.0)]
    rows = filtered_signals(signed, SERIES, taps=2, shift="laplacian", unit_norm=False).rows
    assert rows[0].tolist() == [3, -2 * 0 + 2 * 1]
    with pytest.raises(ValueError, match="'normalised' needs weights of at least 0, got -2"):
        filtered_signals(signed, SERIES, shift="normalised")


def test_results_cannot_be_changed_and_the_series_is_copied() -> None:
    x = SERIES.copy()
    signals = filtered_signals(PATH, x, taps=2)
    x[:] = -1.0
    assert signals.series[0, 1] == 1.0
    for array in (signals.rows, signals.times, signals.series):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


# -- pairs ---------------------------------------------------------------------


def test_pairs_with_the_next_value_by_hand() -> None:
    signals = filtered_signals(PATH, SERIES, taps=2)
    X, y = signals.make_pairs()
    assert y.tolist() == [6, 7, 8, 9, 10, 11]
    assert X.tolist() == signals.rows[:6].tolist()
    X, y = signals.make_pairs(horizon=2)
    assert (len(X), y.tolist()) == (3, [9, 10, 11])


@settings(deadline=None)
@given(seeds, st.integers(0, 3), st.integers(1, 3), st.sampled_from(["drop", "zeros"]))
def test_pairs_are_those_of_the_times_and_nodes(
    seed: Any, horizon: Any, taps: Any, padding: Any
) -> None:
    A, x = example(seed, n_times=6)
    other = np.random.default_rng([seed, 2]).standard_normal(x.shape)
    signals = filtered_signals(A, x, taps=taps, padding=padding)
    X, y = signals.make_pairs(other, horizon=horizon)
    times, nodes = signals.times[: len(y)], signals.row_nodes[: len(y)]
    assert np.array_equal(y, other[times + horizon, nodes])
    assert np.array_equal(X[:, 0], x[times, nodes])
    assert times[-1] + horizon == 5


def test_another_signal_is_paired_at_the_same_time_by_default() -> None:
    signals = filtered_signals(PATH, SERIES, taps=2)
    table = pd.DataFrame({"c": SERIES[:, 2], "b": -SERIES[:, 1], "a": SERIES[:, 0]})
    assert signals.make_pairs(table)[1].tolist() == [3, -4, 5, 6, -7, 8, 9, -10, 11]


def test_wrong_pairs_are_named() -> None:
    signals = filtered_signals(PATH, SERIES, taps=2)
    with pytest.raises(ValueError, match="horizon must be at least 1 for the series itself"):
        signals.make_pairs(horizon=0)
    for horizon in (-1, 1.5, True):
        with pytest.raises(ValueError, match="horizon must be an integer of at least 0"):
            signals.make_pairs(horizon=horizon)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="horizon=3 leaves no pair: rows begin at time 1"):
        signals.make_pairs(horizon=3)
    with pytest.raises(ValueError, match="signal has 3 times, but must have 4 as the series"):
        signals.make_pairs(SERIES[:3])
    with pytest.raises(ValueError, match=r"signal has shape \(4, 2\)"):
        signals.make_pairs(SERIES[:, :2])
    with pytest.raises(ValueError, match="signal has no column for nodes 'b', 'c'"):
        signals.make_pairs(pd.DataFrame({"a": SERIES[:, 0]}))
