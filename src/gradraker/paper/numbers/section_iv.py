"""Section IV: the efficient distance, the circle of figure 2, F of different nodes, and noise.

How the noise range changes with σ², and Var[B] as a bound of Var[F] (section IV.B). Algorithm 2:
σ²_ed hardly depends on D, and a second reading of 5.86.
"""

from typing import Any

import numpy as np

from gradraker.explain import noise_range
from gradraker.linear import contribution_weights
from gradraker.models import sigma2_ranges
from gradraker.paper.claims import SPREAD, ClaimList, Measured, Outcome
from gradraker.paper.simulations import (
    DATA,
    Floats,
    PaperGraph,
    Results,
    RunOptions,
    Settings,
    Simulation,
)

_DISTURBING, _AVERAGING = 10.0, 300.0
# Variances of the extending range at which the efficient distance is measured.
_N_EXTENDING = 6
# Smallest share that is "most, if not all" known nodes; smallest correlation of "similar" weights.
_MOST_SHARE = 0.5
_SIMILARITY = 0.95
_CHAOS = 0.1
# From chaos to σ²_ed, beyond it, averaging, and nearly all B = 2η.
_SIGMA2 = (0.1, 0.5, 2.0, 10.0, 300.0, 1e4)
# The noise range "changes little" if its widths differ by at most this factor.
_WIDTH_FACTOR = 1.5
# It "vanishes" below this share of its width in chaos.
_VANISHED_SHARE = 0.02
# D of figure 6 (a), at which the paper prints σ²_ed.
_D = 200
# Algorithm 2 "mitigates" the impact of D on ln σ²_ed if less than this share of it remains.
_IMPACT_SHARE = 0.5
# Noise ratio that the printed σ²_ed is based on.
_PRINTED_RATIO = 0.1
_NOISES = ("formula", "refined", "minimum")


def simulate_circles(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Measure efficient distances through the extending range, and the circle beyond it.

    For each repeat: the mean efficient distance of unknown nodes at variances from σ²_ce to σ²_ed;
    the mean share of known nodes inside the circle in the disturbing range; and the mean
    correlation of F over time between unknown nodes in the averaging range.
    """
    distances, inside, alike = [], [], []
    for split in graph.draw_splits(settings, options.seed):
        X, unknown = split.X[split.known], split.X[split.unknown]
        ranges = sigma2_ranges(X, n_frequencies=settings["n_frequencies"])
        grid = np.geomspace(
            ranges.chaos_extending, ranges.extending_disturbing, settings["n_extending"]
        )
        found: list[float] = []
        for sigma2 in (*grid, _DISTURBING, _AVERAGING):
            explanation = split.fit_learner(None, settings, sigma2=sigma2).explain(unknown)
            if sigma2 == _AVERAGING:
                alike.append(_correlate(explanation.by_time))
                continue
            limits = np.array(
                [explanation.efficient_distance(row) for row in range(len(unknown.indptr) - 1)]
            )
            if sigma2 == _DISTURBING:
                nodes_inside = explanation.squared_distances <= limits[:, np.newaxis]
                inside.append(float(nodes_inside.mean()))
            else:
                found.append(float(np.nan_to_num(limits).mean()))  # NaN: no significant weight
        distances.append(found)
    return {"distances": distances, "inside": inside, "alike": alike}


def _correlate(F: Floats) -> float:
    """Compute the mean correlation between rows of F."""
    correlations = np.asarray(np.corrcoef(F))  # [m, m]
    return float(correlations[np.triu_indices(len(F), k=1)].mean())


CIRCLES: Simulation[Any] = Simulation(
    "circles",
    "temperature",
    {
        "fraction": 0.4,
        "n_extending": _N_EXTENDING,
        "n_repeats": 10,
        **DATA["temperature"].learner_settings,
    },
    simulate_circles,
    fast_settings={"n_repeats": 3},
    estimate_cost=lambda graph, settings: 0.2 * settings["n_repeats"],
)


def simulate_noise_ranges(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Measure the median noise range of unknown nodes, over 2η, at each σ² and repeat."""
    widths = []
    for split in graph.draw_splits(settings, options.seed):
        row = []
        for sigma2 in settings["sigma2"]:
            model = split.fit_learner(None, settings, sigma2=sigma2)
            F = model.explain(split.X[split.unknown]).by_time
            uppers = [noise_range(weights)[1] for weights in F]
            row.append(float(np.median(uppers)) / (2.0 * settings["learning_rate"]))
        widths.append(row)
    return {"widths": widths}


NOISE_RANGES: Simulation[Any] = Simulation(
    "noise-ranges",
    "temperature",
    {
        "fraction": 0.4,
        "sigma2": list(_SIGMA2),
        "n_repeats": 20,
        **DATA["temperature"].learner_settings,
    },
    simulate_noise_ranges,
    fast_settings={"n_repeats": 4},
    estimate_cost=lambda graph, settings: 0.05 * settings["n_repeats"],
)


def simulate_chaos_variances(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Compute Var[B] and Var[F] over drawn frequencies, by training step, in the chaos range.

    The split and the order are fixed; steps whose node has the same row as the unknown node are
    excluded, since B is 2η there for all frequencies.
    """
    split = graph.draw_split(settings["fraction"], options.seed, 0)
    rows, unknown = split.X[split.known], split.X[split.unknown]
    order = np.concatenate(
        [np.random.default_rng(epoch).permutation(split.known.size) for epoch in range(3)]
    )
    step = 2.0 * settings["learning_rate"]
    B, F = [], []
    for draw in range(settings["n_draws"]):
        model = split._replace(seed=split.seed + draw).fit_learner(None, settings, n_epochs=1)
        Z, stars = model.features(rows), model.features(unknown)
        B.append((step * stars @ Z.T)[:, order])
        F.append(contribution_weights(Z, order, stars, settings["learning_rate"]))
    dense, stars_dense = rows.toarray(), unknown.toarray()
    apart = np.array([np.abs(dense - star).sum(axis=1) > 0.0 for star in stars_dense])[:, order]
    variance_B, variance_F = np.var(B, axis=0, ddof=1), np.var(F, axis=0, ddof=1)  # [m, T]
    n = split.known.size
    epochs = [slice(n * epoch, n * (epoch + 1)) for epoch in range(3)]
    return {
        "by_epoch": [
            float(variance_F[:, e][apart[:, e]].mean() / variance_B[:, e][apart[:, e]].mean())
            for e in epochs
        ],
        "overall": float(variance_F[apart].mean() / variance_B[apart].mean()),
    }


CHAOS_VARIANCES: Simulation[Any] = Simulation(
    "chaos-variances",
    "temperature",
    {"fraction": 0.4, "sigma2": _CHAOS, "n_draws": 100, **DATA["temperature"].learner_settings},
    simulate_chaos_variances,
    fast_settings={"n_draws": 20},
)


def simulate_frequencies(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Choose σ²_ed for several D by the formula and by algorithm 2 on the unknown nodes.

    Noise ratios and variances are lists over repeats for each D and each way to find the noise.
    """
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for D in settings["n_frequencies"]:
        of_D: dict[str, dict[str, list[float]]] = {
            noise: {"noise_ratio": [], "sigma2_ed": []} for noise in _NOISES
        }
        for split in graph.draw_splits(settings, options.seed):
            for noise in _NOISES:
                ranges = sigma2_ranges(
                    split.X[split.known],
                    n_frequencies=D,
                    noise=noise,
                    tested=None if noise == "formula" else split.X[split.unknown],
                    learning_rate=settings["learning_rate"],
                    n_epochs=settings["n_epochs"],
                    random_state=split.seed,
                )
                of_D[noise]["noise_ratio"].append(ranges.noise_ratio)
                of_D[noise]["sigma2_ed"].append(ranges.extending_disturbing)
        found[str(D)] = of_D
    return found


BY_FREQUENCIES: Simulation[Any] = Simulation(
    "algorithm-2",
    "temperature",
    {
        "fraction": 0.4,
        "n_frequencies": [30, 100, _D, 1000, 3000],
        "n_repeats": 30,
        "learning_rate": 0.1,
        "n_epochs": 3,
    },
    simulate_frequencies,
    fast_settings={"n_repeats": 5},
    estimate_cost=lambda graph, settings: 0.2 * settings["n_repeats"],
)
SIMULATIONS = (CIRCLES, NOISE_RANGES, CHAOS_VARIANCES, BY_FREQUENCIES)
CLAIMS = ClaimList(CIRCLES)


@CLAIMS.check(
    "extending-distance",
    "IV.A.2",
    f"Efficient distance at {_N_EXTENDING} variances from σ²_ce to σ²_ed",
    "grows",
)
def check_growing_circle(found: Any) -> Outcome:
    """Check that the efficient distance grows within the extending range."""
    distances = np.mean(found["distances"], axis=0)
    agrees = bool(np.all(np.diff(distances) > 0.0))
    reason = "Mean ‖d‖² of unknown nodes over repeats; agrees if each exceeds the one before."
    text = ", ".join(f"{distance:.2g}" for distance in distances)
    return Outcome(Measured(float(distances[-1])), agrees, reason, text)


@CLAIMS.check(
    "disturbing-circle",
    "IV.A.3",
    "Share of the known nodes inside the circle of an unknown node, σ² = 10",
    "most, if not all",
)
def check_wide_circle(found: Any) -> Outcome:
    """Check that the circle holds most known nodes in the disturbing range."""
    ours = Measured.from_repeats(found["inside"])
    return Outcome(ours, ours.value > _MOST_SHARE, f"Agrees above {_MOST_SHARE:g}.")


@CLAIMS.check(
    "averaging-alike",
    "IV.A.4",
    "Mean correlation of F over time between unknown nodes, σ² = 300",
    "similar for different tested nodes",
)
def check_alike_weights(found: Any) -> Outcome:
    """Check that different nodes have similar weights in the averaging range."""
    ours = Measured.from_repeats(found["alike"])
    return Outcome(ours, ours.value > _SIMILARITY, f"Agrees above {_SIMILARITY:g}.")


@CLAIMS.check(
    "noise-range-limited",
    "IV.B",
    "Noise range over 2η at σ² = 0.1, 0.5, 2, 10: widest divided by narrowest",
    "the change is limited",
    NOISE_RANGES,
)
def check_limited_change(found: Any) -> Outcome:
    """Check that the noise range hardly depends on σ² up to the disturbing range."""
    widths = np.median(found["widths"], axis=0)
    first = widths[:4]
    ours = Measured(float(first.max() / first.min()))
    reason = (
        f"Median of unknown nodes at σ² = {', '.join(f'{s:g}' for s in _SIGMA2)}: "
        f"{', '.join(f'{width:.2g}' for width in widths)}. Agrees up to {_WIDTH_FACTOR:g}. The "
        "noise range of the chaos range may be used up to there, but not in the averaging range, "
        "where it is far narrower."
    )
    return Outcome(ours, ours.value < _WIDTH_FACTOR, reason, f"{ours.value:.3g}")


@CLAIMS.check(
    "noise-range-vanishes",
    "IV.B",
    "Noise range over 2η where all B are nearly 2η, σ² = 10⁴",
    "vanishes",
    NOISE_RANGES,
)
def check_vanishing(found: Any) -> Outcome:
    """Check that there is no noise range where all B are 2η."""
    widths = np.array(found["widths"])
    ours = Measured.from_repeats(widths[:, -1].tolist())
    limit = _VANISHED_SHARE * float(np.median(widths[:, 0]))
    reason = f"Agrees below {_VANISHED_SHARE:.0%} of the width in the chaos range, {limit:.2g}."
    return Outcome(ours, ours.value < limit, reason)


@CLAIMS.check(
    "variance-of-F",
    "IV.B",
    "Var[F] divided by Var[B] in the chaos range, σ² = 0.1, over drawn frequencies",
    "Var[B] is an upper bound",
    CHAOS_VARIANCES,
)
def check_variance_bound(found: Any) -> Outcome:
    """Check that Var[B] bounds Var[F] in the chaos range."""
    ours = Measured(found["overall"])
    epochs = ", ".join(f"{ratio:.3g}" for ratio in found["by_epoch"])
    reason = (
        f"Mean over steps and unknown nodes; {epochs} in the first, second and last epoch. Agrees "
        "up to 1. Each later step at a node with the same row takes 2η of the weight, so that F is "
        "smaller than B the earlier the step."
    )
    return Outcome(ours, ours.value <= 1.0, reason, f"{ours.value:.3g}")


@CLAIMS.check(
    "algorithm-2-D",
    "IV.B",
    "σ²_ed by algorithm 2 at D = 30 divided by that at D = 3000",
    "mitigates the impact of D",
    BY_FREQUENCIES,
)
def check_impact_of_frequencies(found: Any) -> Outcome:
    """Check that σ²_ed depends less on D with algorithm 2 than with the formula."""
    few, many = min(found, key=int), max(found, key=int)
    ratios = {
        noise: np.divide(found[few][noise]["sigma2_ed"], found[many][noise]["sigma2_ed"])
        for noise in ("formula", "refined")
    }
    median = {noise: float(np.median(ratio)) for noise, ratio in ratios.items()}
    ours = Measured.from_repeats(ratios["refined"].tolist())
    left = np.log(median["refined"]) / np.log(median["formula"])
    listed = ", ".join(
        f"{np.median(of_D['refined']['sigma2_ed']):.3g} at D = {D}" for D, of_D in found.items()
    )
    reason = (
        f"The formula gives {median['formula']:.3g}. σ²_ed by algorithm 2, medians: {listed}. "
        f"Agrees if less than {_IMPACT_SHARE:.0%} of the formula's ln σ²_ed is left; here "
        f"{max(left, 0.0):.0%}."
    )
    return Outcome(ours, bool(abs(left) < _IMPACT_SHARE), reason)


@CLAIMS.check(
    "noise-ratio-5.86",
    "V.D, V.E",
    "Noise ratio behind the printed σ²_ed = 5.86 and 5.87: algorithm 2, minimum over unknown nodes",
    f"{_PRINTED_RATIO}",
    BY_FREQUENCIES,
)
def check_second_reading(found: Any) -> Outcome:
    """Check whether algorithm 2 explains the printed σ²_ed of Temperature-Jan."""
    of_D = found[str(_D)]
    ours = Measured.from_repeats(of_D["minimum"]["noise_ratio"])
    deviation = float(np.std(of_D["minimum"]["noise_ratio"], ddof=1))
    middle = np.median(of_D["refined"]["noise_ratio"])
    reason = (
        f"27/(2 ln 10) = 5.863, so the print is based on 0.1. Two readings give it: √(2/D) = 0.1, "
        f"two standard deviations; and the smallest F of all unknown nodes, {ours.value:.3f} ± "
        f"{deviation:.3f} over splits (the median node has {middle:.3f}). The text refers to "
        "equation (noiseup), which supports the first."
    )
    return Outcome(ours, SPREAD.holds(_PRINTED_RATIO, ours), reason, rule=SPREAD)
