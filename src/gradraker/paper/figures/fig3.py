"""Figure 3: B and F of one node at a variance from each range (sections III.B.1 and V.D)."""

from collections.abc import Iterable
from functools import partial

import numpy as np

from gradraker.explain import noise_range
from gradraker.kernels.ranges import RANGES, compute_noise_ratio
from gradraker.paper.claims import ClaimList
from gradraker.paper.four_variances import (
    AVERAGING,
    CHAOS,
    DISTURBING,
    EXTENDING,
    FOUR_SIGMA2,
    WEIGHTS,
    FourVariances,
)
from gradraker.paper.paper_data import Floats
from gradraker.paper.plan import PaperFigure, Table, to_rows
from gradraker.paper.rules import CLOSENESS, Measured, Outcome
from gradraker.plotting import ContributionWeightsDisplay

# Distance of a sum of weights from the value that it is "about".
_ABOUT = 0.05
# B that is noise stays within this many of its standard deviations.
_DEVIATIONS = 4.0
# (Σ B)/(Σ |B|) of an unbalanced sum.
_UNBALANCED = 0.5
# Part of the weights that are smaller than one which is "relatively large".
_LARGE = 0.75
# Correlation with a curve that is "roughly" followed.
_ROUGHLY = 0.95


def draw(found: FourVariances, *, sigma2: float) -> ContributionWeightsDisplay:
    """Draw B and F over the training steps."""
    run = found.get_run(sigma2)
    return ContributionWeightsDisplay(**found.get_display_options(run)).plot()


def make_table(found: FourVariances, *, sigma2: float) -> Table:
    """List B and F of the training steps."""
    run = found.get_run(sigma2)
    rows = to_rows([run.similarities, run.contribution_weights])
    steps = enumerate(zip(found.order.tolist(), rows, strict=True), start=1)
    header = ["time", "observed_node", "B", "F"]
    return [header, *([time, node, *row] for time, (node, row) in steps)]


def write_caption(found: FourVariances, *, sigma2: float) -> str:
    """Say how large B and F are, and how much the last steps weigh."""
    run, settings = found.get_run(sigma2), found.settings
    B, F = run.similarities, run.contribution_weights
    late = float(F[-len(F) // 10 :].sum())
    return (
        f"Similarity measure B and contribution weight F of the {F.size} training steps for "
        f"{found.node}; D = {settings['n_frequencies']}, η = {settings['learning_rate']:g}, "
        f"E = {settings['n_epochs']}. B goes from {B.min():.3f} to {B.max():.3f}; "
        f"{_count_significant(F)} weights are above the noise range. All weights sum to "
        f"{F.sum():.2f}, those of the last tenth of the steps to {late:.2f}."
    )


def _make_panel(letter: str, sigma2: float) -> PaperFigure[FourVariances]:
    return PaperFigure(
        f"fig3{letter}",
        f"Figure 3 ({letter}): B and F at σ² = {sigma2:g}",
        WEIGHTS,
        partial(draw, sigma2=sigma2),
        partial(make_table, sigma2=sigma2),
        partial(write_caption, sigma2=sigma2),
        row=2,
    )


FIGURES = tuple(map(_make_panel, "abcd", FOUR_SIGMA2))


def _count_significant(F: Floats) -> int:
    """Count the weights above the noise range."""
    return int(np.sum(noise_range(F)[1] < F))


def _format_list(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.3g}" for number in numbers)


CLAIMS = ClaimList(WEIGHTS)


@CLAIMS.check(
    "sum-of-weights",
    "III.B.1",
    "Σ F ≈ 1: mean sum of contribution weights of tested nodes at σ² = 10",
    "≈ 1",
)
def check_sum_of_weights(found: FourVariances) -> Outcome:
    """Check that contribution weights sum to about 1, for every unknown node."""
    sums = found.get_run(DISTURBING).sums_of_weights
    ours = Measured.from_repeats(sums.tolist(), value=float(np.mean(sums)))
    error = float(np.sqrt(np.mean((sums - 1.0) ** 2)))
    reason = (
        f"Spread over the {sums.size} tested nodes of one split; agrees if the root mean square "
        f"of Σ F − 1, here {error:.3g}, is below {_ABOUT:g}."
    )
    return Outcome(ours, error < _ABOUT, reason)


@CLAIMS.check(
    "claim-4",
    "III.B.1",
    "Mean Σ F of tested nodes at σ² = 0.1, 2, 10, 300, against Claim 4",
    "1 − (1 − b)^T",
)
def check_claim_4(found: FourVariances) -> Outcome:
    """Check Claim 4, E[Σ F] = 1 − (1 − b)^T with b = E[B], at the four variances."""
    n_steps = len(found.order)
    sums = [float(np.mean(run.sums_of_weights)) for run in found.runs]
    claimed = [1.0 - (1.0 - run.mean_similarity) ** n_steps for run in found.runs]
    error = float(np.abs(np.subtract(sums, claimed)).max())
    reason = (
        f"With the mean of B for b it gives {_format_list(claimed)}; agrees within {_ABOUT:g}. It "
        "assumes that B and F are not correlated, but with E > 1 the same node returns, and B = 2η "
        "there."
    )
    return Outcome(Measured(error), error < _ABOUT, reason, _format_list(sums))


@CLAIMS.check(
    "four-ranges",
    "V.D",
    "Ranges of σ² = 0.1, 2, 10, 300",
    "chaos, extending, disturbing, averaging",
)
def check_four_ranges(found: FourVariances) -> Outcome:
    """Check that the four variances lie in the four ranges."""
    ranges = tuple(run.range for run in found.runs)
    text = ", ".join(ranges)
    n_ranges = Measured(float(len(set(ranges))))
    return Outcome(n_ranges, ranges == RANGES, "By the boundaries of one split.", text)


@CLAIMS.check("chaos-B", "V.D", "σ² = 0.1: largest |B|/2η of nodes with other edges", "around 0")
def check_chaos_similarities(found: FourVariances) -> Outcome:
    """Check that B is noise in the chaos range, except for nodes with the same edges."""
    return _check_noise(found, found.get_run(CHAOS).similarities)


@CLAIMS.check("chaos-F", "V.D", "σ² = 0.1: largest |F|/2η of nodes with other edges", "around 0")
def check_chaos_weights(found: FourVariances) -> Outcome:
    """Check that F is noise in the chaos range, except for nodes with the same edges."""
    return _check_noise(found, found.get_run(CHAOS).contribution_weights)


def _check_noise(found: FourVariances, numbers: Floats) -> Outcome:
    others = found.squared_distances[found.order] > 0.0
    limit = _DEVIATIONS * compute_noise_ratio(found.settings["n_frequencies"])
    ours = Measured(float(np.abs(numbers[others] / (2.0 * found.learning_rate)).max()))
    reason = f"Agrees below {limit:g}, {_DEVIATIONS:g} standard deviations of the noise of B/2η."
    return Outcome(ours, ours.value < limit, reason, f"{ours.value:.3g}")


@CLAIMS.check(
    "extending-B", "V.D", "σ² = 2: balance of positive and negative B, Σ B / Σ |B|", "unbalanced"
)
def check_extending_similarities(found: FourVariances) -> Outcome:
    """Check that positive B outweigh negative ones in the extending range."""
    B = found.get_run(EXTENDING).similarities
    ours = Measured(float(B.sum() / np.abs(B).sum()))
    reason = f"1 if all are positive, 0 if they balance; agrees above {_UNBALANCED:g}."
    return Outcome(ours, ours.value > _UNBALANCED, reason, f"{ours.value:.3g}")


@CLAIMS.check(
    "extending-F",
    "V.D",
    "σ² = 2: weights F that are greatly larger than 0, above the noise range",
    "some",
)
def check_extending_weights(found: FourVariances) -> Outcome:
    """Check that some contribution weights stand out of the noise in the extending range."""
    F = found.get_run(EXTENDING).contribution_weights
    ours = Measured(float(_count_significant(F)))
    return Outcome(ours, ours.value > 0.0, f"Of {F.size} weights; agrees above 0.")


@CLAIMS.check("disturbing-B", "V.D", "σ² = 10: smallest B", "greater than 0")
def check_disturbing_similarities(found: FourVariances) -> Outcome:
    """Check that all B are positive in the disturbing range."""
    B = found.get_run(DISTURBING).similarities
    ours = Measured(float(B.min()))
    return Outcome(ours, ours.value > 0.0, "Agrees above 0.")


@CLAIMS.check(
    "late-F", "V.D", "σ² = 10: F of late nodes whose B is close to the smallest", "relatively large"
)
def check_late_weights(found: FourVariances) -> Outcome:
    """Check that late steps get weights in the disturbing range, however small their B is."""
    ranks = found.get_run(DISTURBING).late_ranks
    if not ranks.size:
        return Outcome(Measured(0.0), False, "No late step has a small B here.", "none")
    ours = Measured.from_repeats(ranks.tolist())
    reason = (
        f"Part of a node's weights that are smaller, for the {ours.n} weights of tested nodes at "
        f"the last five steps whose B is in the lowest quarter; agrees if the median is above "
        f"{_LARGE:g}."
    )
    return Outcome(ours, ours.value > _LARGE, reason)


@CLAIMS.check("averaging-B", "V.D", "σ² = 300: smallest B, in units of 2η", "close to 1")
def check_averaging_similarities(found: FourVariances) -> Outcome:
    """Check that all B are close to 2η in the averaging range."""
    smallest = float(found.get_run(AVERAGING).similarities.min())
    ours, limit = Measured(smallest / (2.0 * found.learning_rate)), 1.0 - CLOSENESS
    return Outcome(ours, ours.value > limit, f"Agrees above {limit:g}.")


@CLAIMS.check(
    "averaging-F", "V.D", "σ² = 300: correlation of F with 2η(1 − 2η)^(T−i)", "roughly exponential"
)
def check_averaging_weights(found: FourVariances) -> Outcome:
    """Check that contribution weights decay like powers of 1 − 2η in the averaging range."""
    F, step = found.get_run(AVERAGING).contribution_weights, 2.0 * found.learning_rate
    decay = step * (1.0 - step) ** np.arange(F.size - 1, -1, -1.0)
    ours = Measured(float(np.corrcoef(F, decay)[0, 1]))
    return Outcome(ours, ours.value > _ROUGHLY, f"Agrees above {_ROUGHLY:g}.")
