"""Figures 3 to 5: B and F of a node, conformity factors α, and predictions, in the four ranges.

All show the simulation of figure 2 (sections III.B.1, IV.A.4 and V.D).
"""

from collections.abc import Iterable
from functools import partial

import numpy as np

from gradraker.explain import conformity_factor, noise_range
from gradraker.kernels.shift_invariant import RANGES, compute_noise_ratio
from gradraker.paper.claims import CLOSENESS, ClaimList, Measured, Outcome
from gradraker.paper.figures.fig2 import (
    AVERAGING,
    CHAOS,
    DISTURBING,
    EXTENDING,
    FOUR_SIGMA2,
    WEIGHTS,
    FourVariances,
)
from gradraker.paper.simulations import Floats, PaperFigure, Table, to_rows
from gradraker.plotting import ConformityDisplay, ContributionWeightsDisplay, PredictedValuesDisplay
from gradraker.plotting.figure import make_axes

# Largest error of a sum of weights that is "about" a value.
_SUM_ERROR = 0.05
# B that is noise stays within this many of its standard deviations.
_DEVIATIONS = 4.0
# Smallest (Σ B)/(Σ |B|) of an unbalanced sum.
_IMBALANCE = 0.5
# A weight is "relatively large" if more than this share of the weights is smaller.
_LARGE_RANK = 0.75
# Smallest correlation with a curve that is "roughly" followed.
_CORRELATION = 0.95
# Largest distance of α/2η from 1 if it is "close to" it.
_ALPHA_ERROR = 0.2
# Predictions are "almost the same" below this standard deviation, over that of the true values.
_FLAT = 0.25


# -- figure 3 --------------------------------------------------------------------------------------


def draw_weights(found: FourVariances, *, sigma2: float) -> ContributionWeightsDisplay:
    """Draw B and F over the training steps."""
    run = found.get_run(sigma2)
    return ContributionWeightsDisplay(**found.get_display_options(run)).plot()


def list_weights(found: FourVariances, *, sigma2: float) -> Table:
    """List B and F of the training steps."""
    run = found.get_run(sigma2)
    rows = to_rows([run.similarities, run.contribution_weights])
    steps = enumerate(zip(found.order.tolist(), rows, strict=True), start=1)
    header = ["time", "observed_node", "B", "F"]
    return [header, *([time, node, *row] for time, (node, row) in steps)]


def describe_weights(found: FourVariances, *, sigma2: float) -> str:
    """Describe the sizes of B and F, and the weight of the last steps."""
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
        partial(draw_weights, sigma2=sigma2),
        partial(list_weights, sigma2=sigma2),
        partial(describe_weights, sigma2=sigma2),
        row=2,
    )


def _count_significant(F: Floats) -> int:
    """Count the weights above the noise range."""
    return int(np.sum(noise_range(F)[1] < F))


def _format_list(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.3g}" for number in numbers)


CLAIMS = ClaimList(WEIGHTS)


@CLAIMS.check(
    "sum-of-weights",
    "III.B.1",
    "Σ F ≈ 1: mean sum of contribution weights of unknown nodes at σ² = 10",
    "≈ 1",
)
def check_sum_of_weights(found: FourVariances) -> Outcome:
    """Check that contribution weights sum to about 1, for every unknown node."""
    sums = found.get_run(DISTURBING).sums_of_weights
    ours = Measured.from_repeats(sums.tolist(), value=float(np.mean(sums)))
    error = float(np.sqrt(np.mean((sums - 1.0) ** 2)))
    reason = (
        f"Spread over the {sums.size} unknown nodes of one split; agrees if the root mean square "
        f"of Σ F − 1, here {error:.3g}, is below {_SUM_ERROR:g}."
    )
    return Outcome(ours, error < _SUM_ERROR, reason)


@CLAIMS.check(
    "claim-4",
    "III.B.1",
    "Mean Σ F of unknown nodes at σ² = 0.1, 2, 10, 300, against Claim 4",
    "1 − (1 − b)^T",
)
def check_claim_4(found: FourVariances) -> Outcome:
    """Check Claim 4, E[Σ F] = 1 − (1 − b)^T with b = E[B], at the four variances."""
    n_steps = len(found.order)
    sums = [float(np.mean(run.sums_of_weights)) for run in found.runs]
    claimed = [1.0 - (1.0 - run.mean_similarity) ** n_steps for run in found.runs]
    error = float(np.abs(np.subtract(sums, claimed)).max())
    reason = (
        f"With the mean of B for b it gives {_format_list(claimed)}; agrees within {_SUM_ERROR:g}. "
        "It assumes that B and F are not correlated, but with E > 1 the same node returns, and "
        "B = 2η there."
    )
    return Outcome(Measured(error), error < _SUM_ERROR, reason, _format_list(sums))


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
    reason = f"1 if all are positive, 0 if they balance; agrees above {_IMBALANCE:g}."
    return Outcome(ours, ours.value > _IMBALANCE, reason, f"{ours.value:.3g}")


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
        f"Share of a node's weights that are smaller, for the {ours.n} weights of unknown nodes at "
        f"the last five steps whose B is in the lowest quarter; agrees if the median is above "
        f"{_LARGE_RANK:g}."
    )
    return Outcome(ours, ours.value > _LARGE_RANK, reason)


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
    return Outcome(ours, ours.value > _CORRELATION, f"Agrees above {_CORRELATION:g}.")


# -- figure 4 --------------------------------------------------------------------------------------


def draw_conformity(found: FourVariances) -> ConformityDisplay:
    """Draw α over the training steps."""
    run = found.get_run(DISTURBING)
    return ConformityDisplay(**found.get_display_options(run)).plot()


def list_conformity(found: FourVariances) -> Table:
    """List α of the training steps, None where it does not exist."""
    run = found.get_run(DISTURBING)
    alpha = conformity_factor(run.similarities, run.contribution_weights).tolist()
    times = enumerate(alpha, start=1)
    return [["time", "alpha"], *([time, None if np.isnan(a) else a] for time, a in times)]


def describe_conformity(found: FourVariances) -> str:
    """Describe how many factors are between 0 and 2η."""
    run = found.get_run(DISTURBING)
    alpha = conformity_factor(run.similarities, run.contribution_weights)
    finite = alpha[np.isfinite(alpha)]
    between = int(np.sum((finite > 0.0) & (finite <= 2.0 * found.learning_rate)))
    return (
        "α in F = B (1 − α)^(T−i), for the station and weights of figure 3 (c). Of the "
        f"{finite.size} factors {between} are between 0 and 2η, as the paper says of all; where F "
        "and B differ in sign, in the noise, α does not exist."
    )


@CLAIMS.check("averaging-alpha", "IV.A.4", "σ² = 300: α/2η", "close to 1")
def check_averaging_conformity(found: FourVariances) -> Outcome:
    """Check that α is near 2η in the averaging range, where weights are not noise."""
    run = found.get_run(AVERAGING)
    F = run.contribution_weights
    alpha = conformity_factor(run.similarities, F) / (2.0 * found.learning_rate)
    usable = (noise_range(F)[1] < F) & np.isfinite(alpha)
    ours = Measured(float(np.median(alpha[usable])) if usable.any() else 0.0)
    low, high = 1.0 - _ALPHA_ERROR, 1.0 + _ALPHA_ERROR
    reason = (
        f"Median of {usable.sum()} weights above the noise range; agrees between {low:g} "
        f"and {high:g}. α of all {np.isfinite(alpha).sum()} weights that have one is read "
        f"off noise mostly; its median is {float(np.nanmedian(alpha)):.2g} · 2η."
    )
    return Outcome(ours, low < ours.value < high, reason)


# -- figure 5 --------------------------------------------------------------------------------------


def draw_predictions(found: FourVariances) -> PredictedValuesDisplay:
    """Draw one panel for each variance."""
    figure = make_axes(7.6, 5.6).figure.figure
    figure.clear()
    grid = figure.subplots(2, 2, sharex=True, sharey=True)
    for i, (axes, run) in enumerate(zip(grid.flat, found.runs, strict=True)):
        display = PredictedValuesDisplay.from_predictions(
            found.altitude_m,
            found.to_celsius(found.values),
            found.to_celsius(run.predictions),
            position_label="Altitude (m a.s.l.)" if i >= 2 else "",
            value_label="January mean temperature (°C)" if i % 2 == 0 else "",
            ax=axes,
        )
        axes.set_title(rf"$\sigma^2$ = {run.sigma2:g} ({run.range})", fontsize="medium")
        if i > 0:
            axes.get_legend().remove()
    return display


def list_predictions(found: FourVariances) -> Table:
    """List altitudes, true and predicted temperatures of the unknown stations."""
    celsius = map(found.to_celsius, (found.values, *(run.predictions for run in found.runs)))
    header = ["altitude_m", "true_c", *(f"sigma2_{run.sigma2:g}_c" for run in found.runs)]
    return [header, *to_rows([found.altitude_m, *celsius])]


def describe_predictions(found: FourVariances) -> str:
    """Describe the errors, and how alike the predictions are."""
    errors = ", ".join(f"{error:.3f}" for error in found.compute_errors().values())
    spreads = ", ".join(
        f"{np.std(run.predictions) / np.std(found.values):.2f}" for run in found.runs
    )
    return (
        f"Temperatures of the {found.values.size} unknown stations, one panel per σ² of figure "
        f"3; a grey line is an error. GNMSE: {errors}. Standard deviation of the predictions, by "
        f"that of the true values: {spreads}; the smaller, the more alike they are."
    )


@CLAIMS.check("largest-error", "V.D", "Of the four σ², the one with the greatest error", "0.1")
def check_largest_error(found: FourVariances) -> Outcome:
    """Check which of the four variances has the largest error."""
    errors = found.compute_errors()
    worst = max(errors, key=errors.__getitem__)
    listed = ", ".join(f"{error:.3g} at σ² = {sigma2:g}" for sigma2, error in errors.items())
    reason = f"GNMSE of one split: {listed}."
    return Outcome(Measured(worst), worst == CHAOS, reason, f"{worst:g}")


@CLAIMS.check(
    "flat-predictions",
    "V.D",
    "σ² = 300: standard deviation of predictions by that of the true values",
    "almost the same",
)
def check_flat_predictions(found: FourVariances) -> Outcome:
    """Check that predictions hardly differ in the averaging range."""
    spread = float(np.std(found.get_run(AVERAGING).predictions))
    ours = Measured(spread / float(np.std(found.values)))
    return Outcome(ours, ours.value < _FLAT, f"Agrees below {_FLAT:g}.", f"{ours.value:.3g}")


FIGURES = (
    *map(_make_panel, "abcd", FOUR_SIGMA2),
    PaperFigure(
        "fig4",
        "Figure 4: conformity factors at σ² = 10",
        WEIGHTS,
        draw_conformity,
        list_conformity,
        describe_conformity,
        row=3,
    ),
    PaperFigure(
        "fig5",
        "Figure 5: true and predicted temperatures",
        WEIGHTS,
        draw_predictions,
        list_predictions,
        describe_predictions,
        row=3,
    ),
)
