"""Filtered series (GKLMS-RFF): the gain of a filter, and the rules for σ² on its rows.

The next value of a node is learned from its series passed through a graph filter, in two settings:

- monthly normals of the Swiss stations: 40 % of the stations are learned from, and the next month
  is predicted at the others;
- generated traffic: the first 60 % of the times are learned from, and the rest is predicted.

Errors are GNMSE of values scaled to [0, 1], means over repeats. "best" is that of the single σ² of
a grid that is best on average over the repeats, which cannot be known beforehand.

Run: python benchmarks/bench_filtered.py [--full | --tiny]
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker import SKGRegressor, adjacency_vectors, gnmse, sigma2_ranges
from gradraker.datasets import (
    GraphDataset,
    load_temperature_normals,
    make_traffic_series,
    split_nodes,
)
from gradraker.explain import similarity_transfer
from gradraker.graph import FilteredSignals, filtered_signals
from machine import print_facts

RULES = ("theory", "refined", "cv")
Floats = NDArray[np.float64]


class Setting(NamedTuple):
    """The source of the series, the training rows, and the settings."""

    load: Callable[[int], tuple[GraphDataset, Floats]]  # repeat -> graph and series
    train: Callable[[FilteredSignals, int, int], NDArray[np.bool_]]  # signals, rows, repeat
    learning_rate: float
    n_epochs: int
    n_repeats: int


def apply_filters(data: GraphDataset, series: Floats) -> dict[str, FilteredSignals]:
    """The series without a graph, and through each filter with three taps."""
    means = adjacency_vectors(data, hop_weights="random_walk")
    own = sp.eye_array(data.n_nodes)
    return {
        "last value only": filtered_signals(data, series, taps=1),
        "own past, no graph": filtered_signals(data, series, shift=own),
        "adjacency": filtered_signals(data, series),
        "adjacency, now": filtered_signals(data, series, delay=0),
        "mean": filtered_signals(means, series, unit_norm=False),
        "mean, now": filtered_signals(means, series, delay=0, unit_norm=False),
        "laplacian": filtered_signals(data, series, shift="laplacian"),
        "normalised": filtered_signals(data, series, shift="normalised"),
    }


def load_normals(_: int) -> tuple[GraphDataset, Floats]:
    return load_temperature_normals(self_loops=False)


def select_known_stations(signals: FilteredSignals, n_rows: int, repeat: int) -> NDArray[np.bool_]:
    n = len(signals.nodes)
    known, _ = split_nodes(n, 0.4, np.random.default_rng(repeat))
    return np.isin(np.arange(n_rows) % n, known)


def select_early_times(signals: FilteredSignals, n_rows: int, _: int) -> NDArray[np.bool_]:
    # Rows whose next value is known before the first predicted time.
    return signals.times[:n_rows] + 1 < 0.6 * len(signals.series)


def scale(series: Floats) -> Any:
    return (series - series.min()) / (series.max() - series.min())


def run_study(setting: Setting, n_grid: int) -> dict[str, dict[str, float]]:
    """For each filter: the best error, the rules and persistence relative to it, the transfer."""
    found: dict[str, list[list[float]]] = {}
    grids: dict[str, Floats] = {}
    for repeat in range(setting.n_repeats):
        data, series = setting.load(repeat)
        for name, signals in apply_filters(data, scale(series)).items():
            X, y = signals.make_pairs()
            train = setting.train(signals, len(y), repeat)
            if name not in grids:
                ranges = sigma2_ranges(X[train])
                low, high = ranges.extending_disturbing / 100, 4 * ranges.disturbing_averaging
                grids[name] = np.geomspace(low, high, n_grid)
            mean = y[train].mean()
            errors = []
            for sigma2 in [*grids[name], *RULES]:
                model = SKGRegressor(
                    sigma2=sigma2,
                    learning_rate=setting.learning_rate,
                    n_epochs=setting.n_epochs,
                    random_state=repeat,
                    keep_known=False,
                ).fit(X[train], y[train] - mean)
                errors.append(gnmse(y[~train], model.predict(X[~train]) + mean))
            persistence = gnmse(y[~train], X[~train, 0])
            transfer = similarity_transfer(X[train], y[train], random_state=repeat).relative_error
            found.setdefault(name, []).append([*errors, persistence, transfer])
    return {name: summarise(np.array(rows), grids[name]) for name, rows in found.items()}


def summarise(rows: Floats, grid: Floats) -> dict[str, float]:
    means = rows.mean(axis=0)
    best = int(means[: len(grid)].argmin())
    *of_rules, persistence, transfer = means[len(grid) :]
    return {
        "best": float(means[best]),
        "at": float(grid[best]),
        **{rule: float(e / means[best]) for rule, e in zip(RULES, of_rules, strict=True)},
        "worst": float(means[: len(grid)].max() / means[best]),
        "last value": float(persistence / means[best]),
        "transfer": float(transfer),
    }


def main(argv: list[str] | None = None) -> dict[str, dict[str, dict[str, float]]]:
    """Print the tables and return them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="four times the repeats")
    parser.add_argument("--tiny", action="store_true", help="for the tests")
    options = parser.parse_args(argv)
    times = 4 if options.full else 1
    n_nodes, n_times = (12, 60) if options.tiny else (60, 288)

    def make_traffic(repeat: int) -> tuple[GraphDataset, Floats]:
        return make_traffic_series(n_nodes, n_times=n_times, random_state=repeat)

    settings = {
        "Temperature normals": Setting(
            load_normals, select_known_stations, 0.05, 10, 1 if options.tiny else 20 * times
        ),
        "Traffic": Setting(
            make_traffic, select_early_times, 0.02, 3, 1 if options.tiny else 5 * times
        ),
    }
    print_facts(seed=0)
    results = {}
    columns = ("best", "at", *RULES, "worst", "last value", "transfer")
    for name, setting in settings.items():
        results[name] = run_study(setting, 4 if options.tiny else 24)
        print(
            f"\n{name}: GNMSE of the next value, {setting.n_repeats} repeats; rules, the worst of"
        )
        print("the grid and the last value relative to the best; transfer: similarity_transfer\n")
        print(f"{'filter':<20}" + "".join(f"{column:>11}" for column in columns))
        for label, row in results[name].items():
            cells = [f"{row['best']:.5f}", f"{row['at']:.3g}"]
            cells += [f"{row[column]:.3f}" for column in columns[2:]]
            print(f"{label:<20}" + "".join(f"{cell:>11}" for cell in cells), flush=True)
    return results


if __name__ == "__main__":
    main()
