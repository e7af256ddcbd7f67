"""Figure 4: conformity factors α in the disturbing range, and α near 2η (section IV.A.4)."""

import numpy as np

from gradraker.explain import conformity_factor, noise_range
from gradraker.paper.claims import ClaimList
from gradraker.paper.four_variances import AVERAGING, DISTURBING, WEIGHTS, FourVariances
from gradraker.paper.plan import PaperFigure, Table
from gradraker.paper.rules import Measured, Outcome
from gradraker.plotting import ConformityDisplay

SIGMA2 = DISTURBING
# Distance of α/2η from the 1 that it is "close to".
_NEAR = 0.2


def draw(found: FourVariances) -> ConformityDisplay:
    """Draw α over the training steps."""
    run = found.get_run(SIGMA2)
    return ConformityDisplay(**found.get_display_options(run)).plot()


def make_table(found: FourVariances) -> Table:
    """List α of the training steps, None where it does not exist."""
    run = found.get_run(SIGMA2)
    alpha = conformity_factor(run.similarities, run.contribution_weights).tolist()
    times = enumerate(alpha, start=1)
    return [["time", "alpha"], *([time, None if np.isnan(one) else one] for time, one in times)]


def write_caption(found: FourVariances) -> str:
    """Say how many factors are between 0 and 2η."""
    run = found.get_run(SIGMA2)
    alpha = conformity_factor(run.similarities, run.contribution_weights)
    known = alpha[np.isfinite(alpha)]
    between = int(np.sum((known > 0.0) & (known <= 2.0 * found.learning_rate)))
    return (
        "α in F = B (1 − α)^(T−i), for the station and weights of figure 3 (c). Of the "
        f"{known.size} factors {between} are between 0 and 2η, as the paper says of all; where F "
        "and B differ in sign, in the noise, there is none."
    )


FIGURES = (
    PaperFigure(
        "fig4",
        "Figure 4: conformity factors at σ² = 10",
        WEIGHTS,
        draw,
        make_table,
        write_caption,
        row=3,
    ),
)


CLAIMS = ClaimList(WEIGHTS)


@CLAIMS.check("averaging-alpha", "IV.A.4", "σ² = 300: α/2η", "close to 1")
def check_averaging_conformity(found: FourVariances) -> Outcome:
    """Check that α is near 2η in the averaging range, where weights are not noise."""
    run = found.get_run(AVERAGING)
    F = run.contribution_weights
    alpha = conformity_factor(run.similarities, F) / (2.0 * found.learning_rate)
    usable = (noise_range(F)[1] < F) & np.isfinite(alpha)
    ours = Measured(float(np.median(alpha[usable])) if usable.any() else 0.0)
    low, high = 1.0 - _NEAR, 1.0 + _NEAR
    reason = (
        f"Median of {usable.sum()} weights above the noise range; agrees between {low:g} "
        f"and {high:g}. α of all {np.isfinite(alpha).sum()} weights that have one is read "
        f"off noise mostly; its median is {float(np.nanmedian(alpha)):.2g} · 2η."
    )
    return Outcome(ours, low < ours.value < high, reason)
