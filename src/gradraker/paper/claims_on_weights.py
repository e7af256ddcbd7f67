"""Statements on figures 2 to 5, B and F at the four variances, and how they are checked."""

import numpy as np

from gradraker.explain.similarity import conformity_factor, noise_range
from gradraker.kernels.ranges import compute_noise_ratio
from gradraker.paper.comparisons import Check
from gradraker.paper.inputs import CLOSENESS
from gradraker.paper.paper_values import Printed
from gradraker.paper.records import run_at
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import CLAIM, Checked, Measured

# Distance of a sum of weights from what it is "about".
_ABOUT = 0.05
# B that is noise stays within this many of its standard deviations.
_DEVIATIONS = 4.0
# Distance of α/2η from the 1 that it is "close to".
_NEAR = 0.2
# (Σ B)/(Σ |B|) of an unbalanced sum.
_UNBALANCED = 0.5
# Part of the weights that are smaller than one which is "relatively large".
_LARGE = 0.75
# Deviation of predictions, by that of the true values, that is "almost the same".
_FLAT = 0.25
# Correlation with a curve that is "roughly" followed.
_ROUGHLY = 0.95


def sum_of_weights(results: PaperResults, number: Printed) -> Checked:
    """Check that weights sum to about 1, for every tested node."""
    sums = np.array(run_at(results, 10.0)["sums_of_weights"])
    ours = Measured.over(sums.tolist(), value=float(np.mean(sums)))
    error = float(np.sqrt(np.mean((sums - 1.0) ** 2)))
    reason = (
        f"Spread over the {sums.size} tested nodes of one split; agrees if the root mean square "
        f"of Σ F − 1, here {error:.3g}, is below {_ABOUT:g}."
    )
    return Checked(CLAIM, ours, ours.shown(), error < _ABOUT, reason)


def expected_sums(results: PaperResults, number: Printed) -> Checked:
    """Check Claim 4, E[Σ F] = 1 − (1 − b)^T with b = E[B], at the four variances."""
    found = results.of("weights")
    n_steps = len(found["order"])
    sums = [float(np.mean(run["sums_of_weights"])) for run in found["runs"]]
    claimed = [1.0 - (1.0 - run["mean_similarity"]) ** n_steps for run in found["runs"]]
    error = float(np.abs(np.subtract(sums, claimed)).max())
    reason = (
        f"With the mean of B for b it gives {_listed(claimed)}; agrees within {_ABOUT:g}. It "
        "assumes that B and F are not correlated, but with E > 1 the same node returns, and B = 2η "
        "there."
    )
    return Checked(CLAIM, Measured(error), _listed(sums), error < _ABOUT, reason)


def chaos(which: str) -> Check:
    """Check that B, or F, is noise in the chaos range, except for equal nodes."""

    def check(results: PaperResults, number: Printed) -> Checked:
        found = results.of("weights")
        settings = results.settings("weights")
        values = np.array(run_at(results, 0.1)[which]) / (2.0 * settings["learning_rate"])
        other = np.array(found["squared_distances"])[found["order"]] > 0.0
        limit = _DEVIATIONS * compute_noise_ratio(settings["n_frequencies"])
        ours = Measured(float(np.abs(values[other]).max()))
        reason = (
            f"Agrees below {limit:g}, {_DEVIATIONS:g} standard deviations of the noise of B/2η."
        )
        return Checked(CLAIM, ours, f"{ours.value:.3g}", ours.value < limit, reason)

    return check


def growing_distance(results: PaperResults, number: Printed) -> Checked:
    """Check that the efficient distance grows up to the disturbing range."""
    found = [run_at(results, sigma2)["efficient_distance"] for sigma2 in (0.1, 2.0, 10.0)]
    distances = [0.0 if distance is None else distance for distance in found]
    agrees = bool(np.all(np.diff(distances) > 0.0))
    reason = "‖d‖² for the node of figure 3, read off its weights."
    return Checked(CLAIM, Measured(distances[1]), _listed(distances), agrees, reason)


def averaging_conformity(results: PaperResults, number: Printed) -> Checked:
    """Check that α is near 2η in the averaging range, where weights are not noise."""
    run, eta = run_at(results, 300.0), results.settings("weights")["learning_rate"]
    B, F = np.array(run["similarities"]), np.array(run["weights"])
    alpha = conformity_factor(B, F) / (2.0 * eta)
    usable = (noise_range(F)[1] < F) & np.isfinite(alpha)
    ours = Measured(float(np.median(alpha[usable])) if usable.any() else 0.0)
    limits = (1.0 - _NEAR, 1.0 + _NEAR)
    reason = (
        f"Median of {usable.sum()} weights above the noise range; agrees between {limits[0]:g} "
        f"and {limits[1]:g}. α of all {np.isfinite(alpha).sum()} weights that have one is read "
        f"off noise mostly; its median is {float(np.nanmedian(alpha)):.2g} · 2η."
    )
    return Checked(CLAIM, ours, ours.shown(), limits[0] < ours.value < limits[1], reason)


def extending_balance(results: PaperResults, number: Printed) -> Checked:
    """Check that positive B outweigh negative ones in the extending range."""
    B = np.array(run_at(results, 2.0)["similarities"])
    ours = Measured(float(B.sum() / np.abs(B).sum()))
    reason = f"1 if all are positive, 0 if they balance; agrees above {_UNBALANCED:g}."
    return Checked(CLAIM, ours, f"{ours.value:.3g}", ours.value > _UNBALANCED, reason)


def late_weights(results: PaperResults, number: Printed) -> Checked:
    """Check that late steps get weights in the disturbing range, however small their B is."""
    ranks = run_at(results, 10.0)["late_ranks"]
    if not ranks:
        return Checked(CLAIM, Measured(0.0), "none", False, "No late step has a small B here.")
    ours = Measured.over(ranks)
    reason = (
        f"Part of a node's weights that are smaller, for the {ours.n} weights of tested nodes at "
        f"the last five steps whose B is in the lowest quarter; agrees if the median is above "
        f"{_LARGE:g}."
    )
    return Checked(CLAIM, ours, ours.shown(), ours.value > _LARGE, reason)


def four_ranges(results: PaperResults, number: Printed) -> Checked:
    """Check that the four variances lie in the four ranges."""
    runs = results.of("weights")["runs"]
    shown = ", ".join(run["range"] for run in runs)
    agrees = shown == number.printed
    n_ranges = Measured(float(len({run["range"] for run in runs})))
    return Checked(CLAIM, n_ranges, shown, agrees, "By the boundaries of one split.")


def extending_weights(results: PaperResults, number: Printed) -> Checked:
    """Check that some weights stand out of the noise in the extending range."""
    F = np.array(run_at(results, 2.0)["weights"])
    ours = Measured(float(np.sum(noise_range(F)[1] < F)))
    reason = f"Of {F.size} weights; agrees above 0."
    return Checked(CLAIM, ours, ours.shown(), ours.value > 0.0, reason)


def averaging_weights(results: PaperResults, number: Printed) -> Checked:
    """Check that weights decay like powers of 1 − 2η in the averaging range."""
    F = np.array(run_at(results, 300.0)["weights"])
    step = 2.0 * results.settings("weights")["learning_rate"]
    decay = step * (1.0 - step) ** np.arange(F.size - 1, -1, -1.0)
    ours = Measured(float(np.corrcoef(F, decay)[0, 1]))
    reason = f"Agrees above {_ROUGHLY:g}."
    return Checked(CLAIM, ours, ours.shown(), ours.value > _ROUGHLY, reason)


def smallest_similarity(sigma2: float) -> Check:
    """Check the smallest B of the disturbing range, or B/2η of the averaging range."""

    def check(results: PaperResults, number: Printed) -> Checked:
        B = np.array(run_at(results, sigma2)["similarities"])
        if sigma2 == 10.0:
            scale, limit = 1.0, 0.0
        else:
            scale, limit = 2.0 * results.settings("weights")["learning_rate"], 1.0 - CLOSENESS
        ours = Measured(float(B.min()) / scale)
        reason = f"Agrees above {limit:g}."
        return Checked(CLAIM, ours, ours.shown(), ours.value > limit, reason)

    return check


def largest_error(results: PaperResults, number: Printed) -> Checked:
    """Check which of the four variances has the largest error."""
    found = results.of("weights")
    y = np.array(found["values"])
    errors = {
        run["sigma2"]: float(np.sum((y - np.array(run["predictions"])) ** 2) / np.sum(y**2))
        for run in found["runs"]
    }
    worst = max(errors, key=errors.__getitem__)
    listed = ", ".join(f"{error:.3g} at σ² = {sigma2:g}" for sigma2, error in errors.items())
    agrees = worst == float(number.printed)
    return Checked(CLAIM, Measured(worst), f"{worst:g}", agrees, f"GNMSE of one split: {listed}.")


def flat_predictions(results: PaperResults, number: Printed) -> Checked:
    """Check that predictions hardly differ in the averaging range."""
    spread = float(np.std(run_at(results, 300.0)["predictions"]))
    ours = Measured(spread / float(np.std(results.of("weights")["values"])))
    reason = f"Agrees below {_FLAT:g}."
    return Checked(CLAIM, ours, f"{ours.value:.3g}", ours.value < _FLAT, reason)


def _listed(numbers: list[float]) -> str:
    return ", ".join(f"{number:.3g}" for number in numbers)
