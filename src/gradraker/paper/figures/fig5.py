"""Figure 5: true and predicted temperatures at a variance from each range (section V.D)."""

import numpy as np

from gradraker.paper.claims import ClaimList
from gradraker.paper.four_variances import AVERAGING, CHAOS, WEIGHTS, FourVariances
from gradraker.paper.plan import PaperFigure, Table, to_rows
from gradraker.paper.rules import Measured, Outcome
from gradraker.plotting import PredictedValuesDisplay
from gradraker.plotting.figure import make_axes

# Deviation of predictions, by that of the true values, that is "almost the same".
_FLAT = 0.25


def draw(found: FourVariances) -> PredictedValuesDisplay:
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


def make_table(found: FourVariances) -> Table:
    """List altitudes, true and predicted temperatures of the unknown stations."""
    celsius = map(found.to_celsius, (found.values, *(run.predictions for run in found.runs)))
    header = ["altitude_m", "true_c", *(f"sigma2_{run.sigma2:g}_c" for run in found.runs)]
    return [header, *to_rows([found.altitude_m, *celsius])]


def write_caption(found: FourVariances) -> str:
    """Say how large the errors are, and how alike the predictions."""
    errors = ", ".join(f"{error:.3f}" for error in found.compute_errors().values())
    spreads = ", ".join(
        f"{np.std(run.predictions) / np.std(found.values):.2f}" for run in found.runs
    )
    return (
        f"Temperatures of the {found.values.size} tested stations, one panel for each σ² of figure "
        f"3; a grey line is an error. GNMSE: {errors}. Standard deviation of the predictions, by "
        f"that of the true values: {spreads}; the smaller, the more alike they are."
    )


FIGURES = (
    PaperFigure(
        "fig5",
        "Figure 5: true and predicted temperatures",
        WEIGHTS,
        draw,
        make_table,
        write_caption,
        row=3,
    ),
)


CLAIMS = ClaimList(WEIGHTS)


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
