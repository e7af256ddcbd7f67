"""Boundaries of the four ranges against the closed forms of section IV."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker import load_temperature, sigma2_ranges
from gradraker.kernels.shift_invariant import (
    KERNELS,
    Sigma2Ranges,
    compute_noise_ratio,
    compute_ranges,
    find_extreme_pairs,
    get_kernel,
)


def _rows_with_distances(*squared_distances: int) -> NDArray[np.float64]:
    """A zero row and rows at these squared distances from it, on axes of their own."""
    return np.vstack([np.zeros(len(squared_distances)), np.diag(np.sqrt(squared_distances))])


def _two_rows(squared_distance: float) -> NDArray[np.float64]:
    return np.array([[0.0], [math.sqrt(squared_distance)]])


# DESIGN's table "where the paper's print and its equations differ", equation column.
@pytest.mark.parametrize(
    ("boundary", "squared_distance", "n_frequencies", "expected"),
    [
        ("extending_disturbing", 27, 200, 4.506),
        ("chaos_extending", 1, 200, 0.167),
        ("disturbing_averaging", 27, 200, 128.1),
        ("extending_disturbing", 12.49, 200, 2.085),
        ("extending_disturbing", 8, 888, 1.069),
        ("extending_disturbing", 107, 403, 15.99),
        ("extending_disturbing", 671, 500, 97.14),
    ],
)
def test_boundaries_equal_equations_of_the_paper(
    boundary: str, squared_distance: float, n_frequencies: int, expected: float
) -> None:
    ranges = sigma2_ranges(_two_rows(squared_distance), n_frequencies=n_frequencies)
    printed = float(f"{getattr(ranges, boundary):.4g}")
    assert printed == expected or round(printed, 3) == expected


def test_boundaries_equal_closed_forms() -> None:
    # Rows 0, √2 e1, √5 e2: squared distances 2, 5 and 2 + 5.
    ranges = sigma2_ranges(_rows_with_distances(2, 5), n_frequencies=50, closeness=0.2)
    assert ranges.noise_ratio == pytest.approx(1 / math.sqrt(100), rel=1e-15)
    assert ranges.smallest_distance == pytest.approx(2, rel=1e-15)
    assert ranges.largest_distance == pytest.approx(7, rel=1e-15)
    assert ranges.chaos_extending == pytest.approx(-2 / (2 * math.log(0.1)), rel=1e-14)
    assert ranges.extending_disturbing == pytest.approx(-7 / (2 * math.log(0.1)), rel=1e-14)
    assert ranges.disturbing_averaging == pytest.approx(-7 / (2 * math.log(0.8)), rel=1e-14)
    assert ranges.noise == "formula"


def test_boundaries_of_laplacian_use_l1_distance() -> None:
    # Rows 0, (1, 1), (3, 0): l1 distances 2, 3 and 3; b = −‖d‖max / ln(ratio), sigma2 = b².
    X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]])
    ranges = sigma2_ranges(X, n_frequencies=200, kernel="laplacian")
    assert ranges.smallest_distance == 2
    assert ranges.largest_distance == 3
    assert ranges.extending_disturbing == pytest.approx((3 / math.log(20)) ** 2, rel=1e-14)
    assert ranges.chaos_extending == pytest.approx((2 / math.log(20)) ** 2, rel=1e-14)
    assert ranges.disturbing_averaging == pytest.approx((3 / -math.log(0.9)) ** 2, rel=1e-14)


def test_boundaries_of_cauchy_on_unweighted_graph() -> None:
    # 0/1 rows that differ in 3 places: (1 + 1/s²)^−3 = ratio.
    X = np.array([[0.0, 0, 0, 1], [1, 1, 1, 1], [1, 0, 0, 1]])
    ranges = sigma2_ranges(X, n_frequencies=200, kernel="cauchy")
    assert ranges.extending_disturbing == pytest.approx(1 / (20 ** (1 / 3) - 1), rel=1e-11)
    assert ranges.chaos_extending == pytest.approx(1 / (20 - 1), rel=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
def test_variance_at_inverts_kernel(kernel: str) -> None:
    rng = np.random.default_rng(0)
    used = get_kernel(kernel)
    for scale in (1e-8, 1.0, 1e8):
        difference = scale * rng.normal(size=7)
        for similarity in (1e-12, 0.05, 0.9, 1 - 1e-9):
            sigma2 = used.variance_at(difference, similarity)
            assert used.similarity(difference, sigma2) == pytest.approx(similarity, rel=1e-9)


def test_given_noise_ratio_moves_two_boundaries() -> None:
    X = _rows_with_distances(1, 4)
    formula, given = sigma2_ranges(X), sigma2_ranges(X, noise=0.3)
    assert given.noise_ratio == 0.3
    assert given.noise == "given"
    assert given.extending_disturbing == pytest.approx(-5 / (2 * math.log(0.3)), rel=1e-14)
    assert given.disturbing_averaging == formula.disturbing_averaging


def test_find_range_and_get_meaning() -> None:
    ranges = sigma2_ranges(_rows_with_distances(1, 26))
    names = [ranges.find_range(sigma2) for sigma2 in (0.1, 2.0, 10.0, 300.0)]
    assert names == ["chaos", "extending", "disturbing", "averaging"]
    assert ranges.find_range(ranges.chaos_extending) == "extending"
    assert ranges.find_range(ranges.extending_disturbing) == "extending"
    assert ranges.find_range(np.nextafter(ranges.extending_disturbing, np.inf)) == "disturbing"
    assert ranges.find_range(ranges.disturbing_averaging) == "averaging"
    text, page = repr(ranges), ranges._repr_html_()
    for name in names:
        assert ranges.get_meaning(name) in text
        assert ranges.get_meaning(name) in page
    assert len({ranges.get_meaning(name) for name in names}) == 4
    assert "0.1669" in text
    assert "4.506" in text
    assert "128.1" in text
    assert "0.1669 ≤ σ² ≤ 4.506" in page
    assert "σ² &lt; 0.1669" in page


def test_find_range_refuses_bad_variance() -> None:
    ranges = sigma2_ranges(_two_rows(1))
    for sigma2 in (0.0, -1.0, math.nan, "a", None):
        with pytest.raises(ValueError, match="sigma2 must be a positive number"):
            ranges.find_range(sigma2)
    with pytest.raises(ValueError, match="range_name must be one of 'chaos'"):
        ranges.get_meaning("calm")


def test_ranges_are_frozen() -> None:
    ranges = sigma2_ranges(_two_rows(1))
    assert isinstance(ranges, Sigma2Ranges)
    with pytest.raises(AttributeError):
        ranges.noise_ratio = 1.0  # type: ignore[misc]


def test_one_distinct_distance_gives_empty_extending_range() -> None:
    ranges = sigma2_ranges(np.eye(4))
    assert ranges.chaos_extending == ranges.extending_disturbing
    assert ranges.find_range(ranges.chaos_extending) == "extending"


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_boundaries_scale_with_tiny_and_huge_weights(scale: float) -> None:
    ranges = sigma2_ranges(scale * _rows_with_distances(1, 26))
    assert ranges.extending_disturbing == pytest.approx(scale**2 * 27 / math.log(400), rel=1e-12)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((5, 3)), "rows that are all equal"),
        (csr_array((4, 3)), "rows that are all equal"),
        (np.ones((1, 3)), "1 row|1 sample"),
        (1e170 * _rows_with_distances(1, 4), "X "),
        (1e-170 * _rows_with_distances(1, 4), "X "),
        (np.array([[0.0], [np.nan]]), "NaN"),
    ],
)
def test_rows_without_ranges_raise(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sigma2_ranges(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"closeness": 0.5}, "closeness must be a number in"),
        ({"closeness": 0.0}, "closeness must be a number in"),
        ({"noise": 0.0}, "noise must be in"),
        ({"noise": 0.9}, "noise must be in"),
        ({"noise": None}, "noise must be 'formula', 'refined', 'minimum' or a number, got None"),
        ({"closeness": None}, "closeness must be a number in"),
        ({"closeness": "a"}, "closeness must be a number in"),
        ({"n_frequencies": 1, "closeness": 0.4}, "the formula's noise ratio must be in"),
        ({"learning_rate": 7}, "learning_rate must be a number in"),
        (
            {"noise": "exact"},
            "noise must be 'formula', 'refined', 'minimum' or a number, got 'exact'",
        ),
        ({"n_frequencies": 0}, "n_frequencies must be an integer"),
        ({"kernel": "poisson"}, "kernel must be one of 'gaussian'"),
        ({"noise": "refined", "learning_rate": 1.5}, "learning_rate must be a number in"),
        ({"noise": "refined", "n_epochs": 0}, "n_epochs must be an integer"),
    ],
)
def test_sigma2_ranges_refuses_bad_settings(settings: dict[Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sigma2_ranges(np.eye(3), **settings)


def test_refined_noise_ratio_is_measured() -> None:
    X = load_temperature().adjacency
    formula = sigma2_ranges(X)
    refined = sigma2_ranges(X, noise="refined", random_state=0)
    assert refined.noise == "refined"
    assert refined == sigma2_ranges(X, noise="refined", random_state=0)
    assert refined.largest_distance == formula.largest_distance
    expected = -refined.largest_distance / (2 * math.log(refined.noise_ratio))
    assert refined.extending_disturbing == pytest.approx(expected, rel=1e-14)
    assert compute_noise_ratio(200) == 0.05
    # At D = 200 the formula's one standard deviation is below the extreme of some 200 weights.
    ratios = [sigma2_ranges(X, noise="refined", random_state=s).noise_ratio for s in range(10)]
    assert 0.05 < np.median(ratios) < 0.2


def test_describe_holds_every_number_of_the_ranges() -> None:
    ranges = Sigma2Ranges(1.0, 2.0, 4.0, 3.0, 9.0, 0.05, "given", 0.1, 200, "gaussian")
    assert ranges.describe(1.5) == {
        "range": "extending",
        "meaning": "nodes with similar neighbours count, more of them as σ² grows",
        "boundaries": {
            "chaos_extending": 1.0,
            "extending_disturbing": 2.0,
            "disturbing_averaging": 4.0,
        },
        "smallest_distance": 3.0,
        "largest_distance": 9.0,
        "noise_ratio": 0.05,
        "noise": "given",
    }


def test_meaning_of_another_word_is_refused() -> None:
    ranges = Sigma2Ranges(1.0, 2.0, 4.0, 3.0, 9.0, 0.05, "given", 0.1, 200, "gaussian")
    words = "'chaos', 'extending', 'disturbing', 'averaging'"
    with pytest.raises(ValueError, match=f"^range_name must be one of {words}, got 'order'$"):
        ranges.get_meaning("order")


def test_text_has_a_line_for_each_range() -> None:
    ranges = Sigma2Ranges(1.0, 2.0, 4.0, 3.0, 9.0, 0.05, "given", 0.1, 200, "gaussian")
    title, *lines = repr(ranges).split("\n")
    assert title.startswith("Sigma2Ranges: gaussian kernel, D = 200")
    assert [line.split()[0] for line in lines] == ["chaos", "extending", "disturbing", "averaging"]
    assert "</tr><tr><td" in ranges._repr_html_()


@pytest.mark.parametrize("closeness", [0.0, 0.5, -0.1, 0.9])
def test_closeness_must_be_between_0_and_a_half(closeness: float) -> None:
    pairs = find_extreme_pairs(np.eye(3))
    message = rf"^closeness must be a number in \(0, 0\.5\), got {closeness}$"
    with pytest.raises(ValueError, match=message):
        compute_ranges(pairs, n_frequencies=200, closeness=closeness)


def test_variances_beyond_float64_are_refused() -> None:
    pairs = find_extreme_pairs(np.array([[0.0], [1e-200]]), kernel="laplacian")
    message = "^X has rows at distances from 1e-200 to 1e-200, whose variances leave the range of"
    with pytest.raises(ValueError, match=message):
        compute_ranges(pairs, n_frequencies=200)


def test_ranges_keep_what_they_were_computed_with() -> None:
    ranges = compute_ranges(
        find_extreme_pairs(np.eye(3), kernel="cauchy"), n_frequencies=50, closeness=0.2
    )
    assert (ranges.closeness, ranges.n_frequencies, ranges.kernel) == (0.2, 50, "cauchy")


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("given", r"^noise must be in \(0, 1 - closeness\) = \(0, 0\.9\), got 0\.95$"),
        (
            "formula",
            r"^the formula's noise ratio must be in \(0, 1 - closeness\) = \(0, 0\.9\), got "
            r"0\.95; lower closeness or raise n_frequencies$",
        ),
    ],
)
def test_noise_ratio_must_be_below_closeness(noise: str, message: str) -> None:
    pairs = find_extreme_pairs(np.eye(3))
    with pytest.raises(ValueError, match=message):
        compute_ranges(pairs, n_frequencies=200, noise_ratio=0.95, noise=noise)


def test_equal_rows_are_counted_in_the_message() -> None:
    message = (
        "^X has n_samples = 4 rows that are all equal, so there is no distance to choose sigma2 "
        "by: at least two distinct rows are needed$"
    )
    with pytest.raises(ValueError, match=message):
        find_extreme_pairs(np.ones((4, 2)))
