"""The figure of the demonstration: predictions of both methods, and their reasons."""

from typing import TYPE_CHECKING

from gradraker.plotting.figure import make_grid
from gradraker.plotting.reasons import ContributorsDisplay
from gradraker.plotting.values import PredictedValuesDisplay
from gradraker.workflow.demo import DemoResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_demo(result: DemoResult) -> "Figure":
    """Draw the predictions of both methods and their reasons.

    Examples
    --------
    >>> from gradraker.plotting.demo import plot_demo
    >>> from gradraker.workflow.demo import run_demo
    >>> len(plot_demo(run_demo(seed=0)).axes)
    4
    """
    axes = make_grid(2, 2, 11.0, 7.2)
    predicted = {"node model": result.by_node_model_c, "SKG": result.predicted_c}
    titles = {"node model": "The node model"}
    for column, explained in enumerate(result.summary["explained"]):
        method = explained["method"]
        PredictedValuesDisplay.from_predictions(
            result.altitude_m,
            result.true_c,
            predicted[method],
            known=result.is_known,
            position_label="Altitude (m a.s.l.)",
            value_label="January mean temperature (°C)",
            ax=axes[column],
        )
        axes[column].set_title(titles.get(method, method), loc="left", fontweight="bold")
        ContributorsDisplay(
            [reason["station"] for reason in explained["reasons"]],
            [reason["weight"] for reason in explained["reasons"]],
            [f"{reason['value_c']:z.1f} °C" for reason in explained["reasons"]],
            title=f"{explained['station']}: {explained['predicted_c']:z.1f} °C, since",
        ).plot(ax=axes[2 + column])
    return axes[0].figure.figure
