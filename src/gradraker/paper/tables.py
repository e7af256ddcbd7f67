"""The numbers behind each figure, as tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradraker.explain.similarity import conformity_factor
from gradraker.paper.plan import PARTS
from gradraker.paper.records import run_at, settings_sweep_of, sweep_of
from gradraker.paper.results import PaperResults

Table = list[list[Any]]


def figure_table(results: PaperResults, name: str) -> Table:
    """Rows of what a figure shows, the header first.

    Examples
    --------
    >>> from gradraker.paper import figure_table, run_paper
    >>> figure_table(run_paper(["fig6a"], fast=True), "fig6a")[0]
    ['sigma2', 'mean', 'standard_error', 'repeat_0', 'repeat_1', 'repeat_2']
    """
    if name == "fig2":
        return _nodes(results)
    if name.startswith("fig3"):
        return _times(results, "abcd".index(name[-1]))
    if name == "fig4":
        return _conformity(results)
    if name == "fig5":
        return _predictions(results)
    simulation = PARTS[name][0]
    if simulation.startswith("pairs-"):
        header = ["squared_distance", "value_difference", "pairs"]
        return [header, *results.of(simulation)["table"]]
    if simulation.startswith("sweep-"):
        return _sweep(results, simulation)
    return _sweeps(results, simulation)


def _sweep(results: PaperResults, simulation: str) -> Table:
    sweep = sweep_of(results, simulation)
    repeats = [f"repeat_{repeat}" for repeat in range(sweep.n_repeats)]
    columns = [sweep.sigma2, sweep.mean, sweep.standard_error, *sweep.gnmse]
    return [["sigma2", "mean", "standard_error", *repeats], *_rows(columns)]


def _sweeps(results: PaperResults, simulation: str) -> Table:
    found = settings_sweep_of(results, simulation)
    table: Table = [[found.setting, "sigma2", "mean", "standard_error"]]
    for value, sweep in zip(found.values, found.results, strict=True):
        rows = _rows([sweep.sigma2, sweep.mean, sweep.standard_error])
        table += [[value, *row] for row in rows]
    return table


def _nodes(results: PaperResults) -> Table:
    found, run = results.of("weights"), run_at(results, 2.0)
    rows = _rows([found["squared_distances"], run["weights_by_node"]])
    return [["observed_node", "squared_distance", "weight"], *([i, *r] for i, r in enumerate(rows))]


def _times(results: PaperResults, number: int) -> Table:
    found = results.of("weights")
    run = found["runs"][number]
    rows = _rows([run["similarities"], run["weights"]])
    return [
        ["time", "observed_node", "B", "F"],
        *(
            [i + 1, node, *row]
            for i, (node, row) in enumerate(zip(found["order"], rows, strict=True))
        ),
    ]


def _conformity(results: PaperResults) -> Table:
    run = run_at(results, 10.0)
    alpha = conformity_factor(run["similarities"], run["weights"]).tolist()
    times = enumerate(alpha, start=1)
    return [["time", "alpha"], *([time, None if np.isnan(one) else one] for time, one in times)]


def _predictions(results: PaperResults) -> Table:
    found = results.of("weights")
    low, high = found["unit"]
    celsius = [
        low + (high - low) * np.array(column)
        for column in (found["values"], *(run["predictions"] for run in found["runs"]))
    ]
    header = ["altitude_m", "true_c", *(f"sigma2_{run['sigma2']:g}_c" for run in found["runs"])]
    return [header, *_rows([found["altitude_m"], *celsius])]


def _rows(columns: Sequence[Any]) -> Table:
    rows: Table = np.array(columns, dtype=np.float64).T.tolist()
    return rows
