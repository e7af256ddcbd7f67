"""Titles and captions of the paper's figures: what is drawn, and what to see."""

import re
from collections.abc import Callable

import numpy as np

from gradraker.explain.similarity import conformity_factor, noise_range
from gradraker.paper.data import DATA
from gradraker.paper.inputs import SIGMA2_ED
from gradraker.paper.plan import SMALL_LEARNING_RATE
from gradraker.paper.records import run_at, settings_sweep_of, sweep_of
from gradraker.paper.results import PaperResults

TITLES = {
    "fig1": "Figure 1: the four ranges of σ²",
    "fig2": "Figure 2: sampled nodes around a tested node",
    "fig3a": "Figure 3 (a): B and F at σ² = 0.1",
    "fig3b": "Figure 3 (b): B and F at σ² = 2",
    "fig3c": "Figure 3 (c): B and F at σ² = 10",
    "fig3d": "Figure 3 (d): B and F at σ² = 300",
    "fig4": "Figure 4: conformity factors at σ² = 10",
    "fig5": "Figure 5: true and predicted temperatures",
    "fig6a": "Figure 6 (a): Temperature-Jan, unweighted graph",
    "fig6b": "Figure 6 (b): Temperature-Jan, weighted graph",
    "fig6c": "Figure 6 (c): Cora-Con",
    "fig6d": "Figure 6 (d): Email-EU-Core",
    "fig6e": "Figure 6 (e): Wikipedia-Math-Daily",
    "fig7": "Figure 7: values against distances, Temperature-Jan",
    "fig8": "Figure 8: values against distances, Cora-Con",
    "frequencies": "Section VI.B.2: the number of random features D",
    "learning-rate": "Section VI.B.2: the learning rate η",
    "epochs": "Section VI.B.2: the number of epochs E",
}


def caption(results: PaperResults, name: str) -> str:
    """Say what a figure shows and what to see in it."""
    # A minus sign, as on the axes.
    return re.sub(r"(?<=[ (])-(?=\d)", "−", _CAPTIONS[name](results))


def _figure_1(results: PaperResults) -> str:
    sweep = sweep_of(results, "sweep-temperature")
    return (
        "Mean GNMSE over σ² on Temperature-Jan, with the four ranges between medians of their "
        f"boundaries. It is {sweep.mean[0]:.3f} in the chaos range, falls in the extending range "
        f"to its smallest, {sweep.mean.min():.3f}, near σ²_ed, and is {sweep.mean[-1]:.3f} at the "
        "end of the averaging range."
    )


def _figure_2(results: PaperResults) -> str:
    found, run = results.of("weights"), run_at(results, 2.0)
    squared, weights = np.array(found["squared_distances"]), np.array(run["weights_by_node"])
    limit = run["efficient_distance"]
    inside = squared <= (-1.0 if limit is None else limit)
    return (
        f"The tested station {found['node']} (star) and the {squared.size} sampled stations by the "
        "distance of their adjacency vectors, at σ² = 2; angles mean nothing. Within the "
        f"efficient distance are {inside.sum()} stations, whose weights sum to "
        f"{weights[inside].sum():.2f}; those of the {np.sum(~inside)} others sum to "
        f"{weights[~inside].sum():.2f}."
    )


def _figure_3(number: int) -> Callable[[PaperResults], str]:
    def text(results: PaperResults) -> str:
        found, settings = results.of("weights"), results.settings("weights")
        run = found["runs"][number]
        B, F = np.array(run["similarities"]), np.array(run["weights"])
        significant = int(np.sum(noise_range(F)[1] < F))
        late = float(F[-len(F) // 10 :].sum())
        return (
            f"Similarity measure B and contribution weight F of the {F.size} training steps for "
            f"{found['node']}; D = {settings['n_frequencies']}, η = {settings['learning_rate']:g}, "
            f"E = {settings['n_epochs']}. B goes from {B.min():.3f} to {B.max():.3f}; "
            f"{significant} weights are above the noise range. All weights sum to {F.sum():.2f}, "
            f"those of the last tenth of the steps to {late:.2f}."
        )

    return text


def _figure_4(results: PaperResults) -> str:
    run, eta = run_at(results, 10.0), results.settings("weights")["learning_rate"]
    alpha = conformity_factor(run["similarities"], run["weights"])
    known = alpha[np.isfinite(alpha)]
    between = int(np.sum((known > 0.0) & (known <= 2.0 * eta)))
    return (
        "α in F = B (1 − α)^(T−i), for the station and weights of figure 3 (c). Of the "
        f"{known.size} factors {between} are between 0 and 2η, as the paper says of all; where F "
        "and B differ in sign, in the noise, there is none."
    )


def _figure_5(results: PaperResults) -> str:
    found = results.of("weights")
    y = np.array(found["values"])
    predictions = [np.array(run["predictions"]) for run in found["runs"]]
    errors = ", ".join(f"{np.sum((y - one) ** 2) / np.sum(y**2):.3f}" for one in predictions)
    spreads = ", ".join(f"{np.std(one) / np.std(y):.2f}" for one in predictions)
    return (
        f"Temperatures of the {y.size} tested stations, one panel for each σ² of figure 3; a grey "
        f"line is an error. GNMSE: {errors}. Standard deviation of the predictions, by that of the "
        f"true values: {spreads}; the smaller, the more alike they are."
    )


def _figure_6(data: str) -> Callable[[PaperResults], str]:
    def text(results: PaperResults) -> str:
        sweep, paper = sweep_of(results, f"sweep-{data}"), DATA[data]
        ed = float(sweep.median_boundaries[1])
        loops = " The graph has no self loops." if data == "temperature-weighted" else ""
        return (
            f"Mean and standard error of {sweep.n_repeats} repeats; D = {paper.n_frequencies}, η = "
            f"{paper.learning_rate:g}, E = {paper.n_epochs}. Smallest at σ² = {sweep.best_:.3g} "
            f"with {sweep.mean.min():.3f}; at the median σ²_ed = {ed:.3g} it is "
            f"{sweep.mean_at(ed):.3f}. The paper prints σ²_ed = {SIGMA2_ED[data]}.{loops}"
        )

    return text


def _pairs(data: str, what: str, near: float, far: float) -> Callable[[PaperResults], str]:
    def text(results: PaperResults) -> str:
        distances, gaps, counts = np.array(results.of(f"pairs-{data}")["table"]).T
        medians = [
            float(np.median(np.repeat(gaps[here], counts[here].astype(np.int64))))
            for here in (distances <= near, distances >= far)
            if here.any()
        ]
        return (
            f"All {int(counts.sum())} pairs of sampled {what}, with values scaled to [0, 1]. The "
            f"median difference is {medians[0]:.2f} for ‖d‖² {'≤' if near else '='} {near:g} and "
            f"{medians[-1]:.2f} for "
            f"‖d‖² ≥ {far:g}: SKG can work where the first is clearly smaller."
        )

    return text


def _figure_settings(name: str) -> Callable[[PaperResults], str]:
    def text(results: PaperResults) -> str:
        found = settings_sweep_of(results, name)
        best = ", ".join(f"{sweep.best_:.4g}" for sweep in found.results)
        return f"{_SETTINGS[name]} Best σ² (dots), in the order of the legend: {best}."

    return text


_SETTINGS = {
    "frequencies": (
        "Temperature-Jan with the other settings of figure 6 (a). The paper expects larger errors "
        "for few features, the same best σ² for many, and a σ²_ed (dashed) that falls slowly with "
        "D."
    ),
    "learning-rate": (
        "Temperature-Jan with the other settings of figure 6 (a). The paper expects the best σ² "
        "far above σ²_ed where η is too small for three epochs, since weights do not sum to 1 "
        "then."
    ),
    "epochs": (
        f"Temperature-Jan with η = {SMALL_LEARNING_RATE:g} and the other settings of figure 6 (a). "
        "The paper expects that more epochs make up for a small η, and few move the best σ² up."
    ),
}

_CAPTIONS: dict[str, Callable[[PaperResults], str]] = {
    "fig1": _figure_1,
    "fig2": _figure_2,
    **{f"fig3{letter}": _figure_3(i) for i, letter in enumerate("abcd")},
    "fig4": _figure_4,
    "fig5": _figure_5,
    **{f"fig6{letter}": _figure_6(data) for letter, data in zip("abcde", DATA, strict=True)},
    "fig7": _pairs("temperature", "stations", 5.0, 15.0),
    "fig8": _pairs("cora", "papers", 0.0, 3.0),
    **{name: _figure_settings(name) for name in _SETTINGS},
}
