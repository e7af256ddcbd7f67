"""Figure 1: the four ranges of σ², and their boundaries (sections IV.B and V.D)."""

from gradraker.paper.claims import ClaimList
from gradraker.paper.paper_data import DATA
from gradraker.paper.paper_sweeps import SWEEPS, make_sweep_table
from gradraker.paper.plan import PaperFigure
from gradraker.paper.rules import (
    SMALLEST_DISTANCE,
    Measured,
    Outcome,
    compare_boundary,
    compare_spread,
)
from gradraker.plotting import DrawnDisplay, plot_sweep
from gradraker.sweep import SweepResult

SWEEP = SWEEPS["temperature"]
# GNMSE at σ²_ce is as bad as in the chaos range, up to the noise of its mean.
_SAME = 1.05


def draw(sweep: SweepResult) -> DrawnDisplay:
    """Draw mean GNMSE over σ², with the ranges and their boundaries."""
    ce, _, da = sweep.median_boundaries
    marks = {rf"$\sigma^2_{{ce}}$ = {ce:.3g}": ce, rf"$\sigma^2_{{da}}$ = {da:.3g}": da}
    return plot_sweep(sweep, marks=marks)


def write_caption(sweep: SweepResult) -> str:
    """Say how the error goes through the ranges."""
    return (
        "Mean GNMSE over σ² on Temperature-Jan, with the four ranges between medians of their "
        f"boundaries. It is {sweep.mean[0]:.3f} in the chaos range, falls in the extending range "
        f"to its smallest, {sweep.mean.min():.3f}, near σ²_ed, and is {sweep.mean[-1]:.3f} at the "
        "end of the averaging range."
    )


FIGURES = (
    PaperFigure(
        "fig1",
        "Figure 1: the four ranges of σ²",
        SWEEP,
        draw,
        make_sweep_table,
        write_caption,
        row=1,
    ),
)


CLAIMS = ClaimList(SWEEP)


@CLAIMS.check(
    "four-levels",
    "IV.B",
    "GNMSE over the four ranges, Temperature-Jan",
    "bad, gets better, might get worse, bad",
)
def check_four_levels(sweep: SweepResult) -> Outcome:
    """Check how GNMSE changes over the four ranges."""
    ce, ed, da = sweep.median_boundaries
    levels = [
        float(sweep.mean[0]),
        *map(sweep.compute_mean_at, (ce, ed, da)),
        float(sweep.mean[-1]),
    ]
    chaos, start, lowest, end, averaging = levels
    agrees = lowest < start <= _SAME * chaos and lowest < end < averaging
    reason = (
        "Mean GNMSE at the smallest σ², at the medians of σ²_ce, σ²_ed, σ²_da, and at the largest "
        "σ²; agrees if it falls from σ²_ce to σ²_ed and rises from there to the end."
    )
    text = ", ".join(f"{level:.3g}" for level in levels)
    return Outcome(Measured(lowest), agrees, reason, text)


CLAIMS.add(
    "d2min-temperature",
    "V.D",
    "Smallest nonzero ‖d‖², Temperature-Jan",
    SMALLEST_DISTANCE,
    compare_spread(SWEEP, lambda sweep: sweep.squared_distances[:, 0]),
)
CLAIMS.add(
    "d2max-temperature",
    "V.D, V.E",
    "Largest ‖d‖², Temperature-Jan",
    DATA["temperature"].largest_distance,
    compare_spread(SWEEP, lambda sweep: sweep.squared_distances[:, 1]),
)
for _key, _which, _printed in (
    ("sigma2-ce", "ce", "0.22"),
    ("sigma2-ed-5.87", "ed", "5.87"),
    ("sigma2-da", "da", "135"),
):
    CLAIMS.add(
        _key,
        "V.D",
        f"σ²_{_which}, Temperature-Jan",
        _printed,
        compare_boundary(
            "temperature", _which, lambda results: results.get(SWEEP).squared_distances
        ),
    )
