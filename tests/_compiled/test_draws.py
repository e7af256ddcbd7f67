"""The counter-based draws: their distributions, their independence, and that they never change.

Seeds are fixed, so a test passes always or never. Bounds are chosen for the chance that correct
draws would have failed when the seeds were picked: p < 1e-4 a Kolmogorov-Smirnov test, and 4.5
standard errors (7e-6) a mean or correlation, widened for the number of them looked at.
"""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gradraker._compiled.draws import CAUCHY, LAPLACE, NORMAL, draw_rows

DISTRIBUTIONS = {
    NORMAL: stats.norm,
    CAUCHY: stats.cauchy,
    LAPLACE: stats.laplace,
}
EVERY = pytest.mark.parametrize("distribution", DISTRIBUTIONS)


def draw(
    identities: Any,
    n_frequencies: int,
    *,
    seed: int = 0,
    distribution: int = NORMAL,
    rows: Any = None,
) -> NDArray[np.float32]:
    identities = np.asarray(identities, dtype=np.uint64)
    table = np.full((identities.size, n_frequencies), np.nan, dtype=np.float32)
    rows = np.arange(identities.size) if rows is None else np.asarray(rows)
    draw_rows(np.uint64(seed), identities, rows, distribution, table)
    return table


def uniforms(distribution: int, **options: Any) -> Any:
    """Draws mapped to (0, 1) by their distribution function, which tames heavy tails."""
    return DISTRIBUTIONS[distribution].cdf(draw(**options, distribution=distribution))


def correlations(U: Any) -> Any:
    """Correlations of all pairs of rows."""
    return np.corrcoef(U)[np.triu_indices(len(U), 1)]


# -- the numbers themselves ------------------------------------------------------------------

# Written down once. If they change, model files of earlier versions give other predictions:
# then the format of model files needs a new version.
GOLDEN = {
    NORMAL: [
        [
            "0x1.017ac00000000p-3",
            "0x1.8fed220000000p-4",
            "0x1.da16980000000p+0",
            "-0x1.bd75480000000p-1",
            "0x1.85553c0000000p-2",
            "-0x1.0bc35c0000000p-1",
            "0x1.019d180000000p-1",
        ],
        [
            "-0x1.c2885e0000000p-3",
            "-0x1.f8f96c0000000p-1",
            "-0x1.9d17b40000000p-1",
            "-0x1.0174ac0000000p-1",
            "-0x1.ada0360000000p-2",
            "-0x1.1b61be0000000p-2",
            "0x1.a07a800000000p+0",
        ],
        [
            "-0x1.62816e0000000p+0",
            "0x1.a007d40000000p-2",
            "-0x1.e78a800000000p-2",
            "0x1.fa95560000000p-1",
            "0x1.46a90e0000000p-1",
            "0x1.2a7c700000000p-1",
            "-0x1.0818fe0000000p+0",
        ],
    ],
    CAUCHY: [
        [
            "0x1.0dda480000000p+1",
            "0x1.7a6cfa0000000p-1",
            "0x1.c0802e0000000p+0",
            "-0x1.bae6040000000p+2",
            "0x1.a477900000000p-3",
            "0x1.a74b520000000p+0",
            "0x1.64a2540000000p-1",
        ],
        [
            "-0x1.34c5300000000p+0",
            "0x1.a2a4520000000p-5",
            "0x1.9af9120000000p+0",
            "0x1.2494c40000000p+1",
            "0x1.0a3ef40000000p-1",
            "-0x1.ed51c20000000p+2",
            "0x1.5b3da00000000p+0",
        ],
        [
            "0x1.51dc060000000p+3",
            "-0x1.bd329e0000000p-1",
            "0x1.d53bac0000000p+2",
            "-0x1.6dd1fe0000000p-1",
            "-0x1.570c5e0000000p+0",
            "0x1.ce507e0000000p-3",
            "0x1.0975a80000000p+1",
        ],
    ],
    LAPLACE: [
        [
            "0x1.c76e1a0000000p-2",
            "0x1.cfac4e0000000p-3",
            "-0x1.180a9e0000000p+0",
            "0x1.93f1d40000000p-1",
            "-0x1.5ef2be0000000p+1",
            "-0x1.1e435a0000000p+0",
            "-0x1.a4428c0000000p+0",
        ],
        [
            "0x1.4631b60000000p+0",
            "0x1.0c78c20000000p-6",
            "0x1.8ef2b20000000p-2",
            "0x1.d70fb80000000p-2",
            "0x1.5334c80000000p-3",
            "-0x1.3a7a3e0000000p-1",
            "-0x1.361dc80000000p+0",
        ],
        [
            "-0x1.82a2b20000000p-1",
            "-0x1.08be860000000p-2",
            "0x1.3882a60000000p-1",
            "-0x1.c28b6c0000000p-3",
            "-0x1.674d560000000p-2",
            "0x1.2c343c0000000p-4",
            "0x1.c42fc40000000p-2",
        ],
    ],
}
GOLDEN_POSITIONS = [0, 1, 63, 64, 127, 128, 200]


@EVERY
def test_draws_equal_golden_values(distribution: int) -> None:
    table = draw([0, 7, 2**64 - 1], 201, seed=12345, distribution=distribution)
    expected = np.array([[float.fromhex(x) for x in row] for row in GOLDEN[distribution]])
    np.testing.assert_array_equal(table[:, GOLDEN_POSITIONS], expected.astype(np.float32))


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def literal_draw(seed: int, identity: int, k: int, distribution: int) -> float:
    """One draw by Python's integers and the C library: what the compiled loop claims to do."""
    golden = 0x9E3779B97F4A7C15
    key = mix(mix((identity + golden) % 2**64) ^ mix(mix((seed + golden) % 2**64)))
    block, place = divmod(k, 128)
    word = mix((key + (64 * block + place % 64 + 1) * golden) % 2**64)
    high, low = ((word >> 32) + 0.5) / 2**32, (word % 2**32 + 0.5) / 2**32
    u = high if place < 64 else low
    if distribution == CAUCHY:
        return math.tan(2 * math.pi * u)
    if distribution == LAPLACE:
        return math.copysign(math.log(1 - 2 * abs(u - 0.5)), u - 0.5)
    turn = math.cos if place < 64 else math.sin
    return math.sqrt(-2 * math.log(high)) * turn(2 * math.pi * low)


@EVERY
def test_draws_equal_literal_program(distribution: int) -> None:
    identities = [0, 1, 2**63, 2**64 - 1]
    table = draw(identities, 300, seed=2**64 - 2, distribution=distribution)
    expected = [
        [literal_draw(2**64 - 2, identity, k, distribution) for k in range(300)]
        for identity in identities
    ]
    # The table is float32, so the two agree to half a unit in its last place, 2**-24 relative.
    # The C library's 2π·u is rounded, which shows in sines near 0: hence the small absolute part.
    np.testing.assert_allclose(table, expected, rtol=2.0**-23, atol=1e-14)


@EVERY
def test_draws_are_finite_float32(distribution: int) -> None:
    table = draw(range(500), 400, distribution=distribution)
    assert table.dtype == np.float32
    assert np.isfinite(table).all()


# -- distributions ---------------------------------------------------------------------------


@pytest.mark.statistical
@EVERY
@pytest.mark.parametrize("seed", [0, 1, 2**63 + 11])
def test_draws_follow_distribution(distribution: int, seed: int) -> None:
    x = draw(range(500), 400, seed=seed, distribution=distribution).ravel().astype(float)
    assert stats.kstest(x, DISTRIBUTIONS[distribution].cdf).pvalue > 1e-4


@pytest.mark.statistical
@EVERY
def test_draws_of_one_position_follow_distribution(distribution: int) -> None:
    # Names are small integers in practice: neighbours in the counter must not show.
    table = draw(range(50_000), 130, distribution=distribution)
    for k in (0, 64, 129):
        x = table[:, k].astype(float)
        assert stats.kstest(x, DISTRIBUTIONS[distribution].cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("distribution", "moments"),
    [
        (NORMAL, [0, 1, 0, 3, 0, 15]),
        (LAPLACE, [0, 2, 0, 24, 0, 720]),
    ],
)
def test_draws_have_moments_of_distribution(distribution: int, moments: list[int]) -> None:
    x = draw(range(1000), 500, distribution=distribution).ravel().astype(float)
    for power, expected in enumerate(moments, start=1):
        y = x**power
        assert abs(y.mean() - expected) < 4.5 * y.std() / math.sqrt(y.size), power


def test_cauchy_draws_have_heavy_tails() -> None:
    # P(|x| > t) = 2/π arctan(1/t): heavy tails are what the Laplacian kernel needs.
    x = np.abs(draw(range(1000), 1000, distribution=CAUCHY).ravel().astype(float))
    for t in (1.0, 10.0, 1e3, 1e5):
        p = 2 / math.pi * math.atan(1 / t)
        assert abs(np.mean(x > t) - p) < 4.5 * math.sqrt(p * (1 - p) / x.size), t


# -- independence ----------------------------------------------------------------------------


@pytest.mark.statistical
@EVERY
def test_draws_of_nodes_are_uncorrelated(distribution: int) -> None:
    U = uniforms(distribution, identities=range(60), n_frequencies=4000)
    # 1770 pairs: 5.5 standard errors keep the chance of a false alarm below 1e-4.
    assert np.abs(correlations(U)).max() < 5.5 / math.sqrt(4000)
    assert np.abs(correlations(np.abs(U - 0.5))).max() < 5.5 / math.sqrt(4000)


@pytest.mark.statistical
@EVERY
def test_draws_of_positions_are_uncorrelated(distribution: int) -> None:
    # Positions i and i + 64 come from the two halves of one hash (normal: one radius).
    U = uniforms(distribution, identities=range(4000), n_frequencies=256).T
    # 32640 pairs, so 6 standard errors.
    assert np.abs(correlations(U)).max() < 6 / math.sqrt(4000)
    assert np.abs(correlations(np.abs(U - 0.5))).max() < 6 / math.sqrt(4000)


@EVERY
def test_draws_of_seeds_are_uncorrelated(distribution: int) -> None:
    U = np.array(
        [
            uniforms(distribution, identities=range(20), n_frequencies=200, seed=seed).ravel()
            for seed in [*range(40), 2**32 - 1, 2**63, 2**64 - 1]
        ]
    )
    assert np.abs(correlations(U)).max() < 5.5 / math.sqrt(4000)


@EVERY
def test_seed_and_identity_are_not_interchangeable(distribution: int) -> None:
    # Each (seed, identity) has draws of its own; (3, 7) and (7, 3), (0, 0) and (1, 1) as well.
    firsts = [
        tuple(row)
        for seed in range(30)
        for row in draw(range(30), 3, seed=seed, distribution=distribution)
    ]
    assert len(set(firsts)) == 900


def test_blocks_of_a_row_do_not_repeat() -> None:
    # Of 2000 draws a few are equal after rounding to float32; a repeated block would be 64.
    for row in draw(range(10), 2000, distribution=LAPLACE):
        assert np.unique(row).size > 1990


# -- what a draw depends on ------------------------------------------------------------------


@EVERY
def test_first_frequencies_do_not_depend_on_their_number(distribution: int) -> None:
    longest = draw([3, 14], 300, distribution=distribution)
    for n_frequencies in (1, 2, 63, 64, 65, 127, 128, 129, 192, 193, 256, 257):
        shorter = draw([3, 14], n_frequencies, distribution=distribution)
        np.testing.assert_array_equal(shorter, longest[:, :n_frequencies])


@EVERY
def test_draws_do_not_depend_on_order_or_other_nodes(distribution: int) -> None:
    together = draw(range(10), 70, distribution=distribution)
    backwards = draw(range(10), 70, distribution=distribution, rows=range(9, -1, -1))
    np.testing.assert_array_equal(backwards, together)
    for identity in range(10):
        alone = draw([identity], 70, distribution=distribution)
        np.testing.assert_array_equal(alone[0], together[identity])


def test_draw_rows_writes_given_rows_only() -> None:
    table = draw(range(5), 10, rows=[1, 3])
    assert np.isnan(table).all(axis=1).tolist() == [True, False, True, False, True]
    assert np.isnan(table).any(axis=1).tolist() == [True, False, True, False, True]
