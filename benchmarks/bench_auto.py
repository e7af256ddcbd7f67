"""How good are settings that are all "auto": GNMSE relative to the best of a joint grid.

For each data set and repeat, 40 % of the nodes are known (they are also the referencing nodes).
The denominator is the mean GNMSE of the settings (σ², η, E, D) of a joint grid that are best on
average over the same repeats, which cannot be known beforehand. The cost is the time that the
choice takes, divided by that of a plain fit with the chosen numbers.

Run: python benchmarks/bench_auto.py [--repeats 12] [--tiny]
"""

import argparse
import time
from typing import Any

import numpy as np

from gradraker import SKGRegressor, gnmse, sigma2_ranges
from gradraker._compiled.fourier_lms import run_lms_pass
from gradraker.datasets import GraphDataset, split_nodes
from gradraker.features import FrequencyTable, compute_fourier_features, to_row_arrays
from gradraker.linear.lms import draw_epoch_orders
from machine import print_facts
from report import Finding, Report
from signals import data_sets

FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 12.0, 20.0)
RATES = (0.02, 0.05, 0.1, 0.2)
EPOCHS = (1, 3, 8, 20, 50)
FREQUENCIES = (200, 800)
AUTO: dict[str, Any] = {
    "sigma2": "auto",
    "n_frequencies": "auto",
    "learning_rate": "auto",
    "n_epochs": "auto",
}


def run_grid(data: GraphDataset, repeat: int, sigma2: float, *, tiny: bool) -> np.ndarray:
    """GNMSE of one repeat at all settings, (σ², η, E, D); variances are multiples of σ²."""
    known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
    y = data.scale_values()
    X = data.adjacency[:, known]
    rows, unknown_rows = to_row_arrays(X[known]), to_row_arrays(X[unknown])
    orders = draw_epoch_orders(repeat, known.size, max(EPOCHS), shuffle=True)
    factors = FACTORS[::4] if tiny else FACTORS
    errors = np.empty((len(factors), len(RATES), len(EPOCHS), len(FREQUENCIES)))
    for d, D in enumerate(FREQUENCIES):
        table = FrequencyTable(repeat, D, "gaussian", n_numbered=known.size)
        units, unknown_units = table.prepare(rows.indices), table.prepare(unknown_rows.indices)
        for s, factor in enumerate(factors):
            scale = 1.0 / np.sqrt(factor * sigma2)
            Z = compute_fourier_features(rows, units, scale)
            stars = compute_fourier_features(unknown_rows, unknown_units, scale)
            for h, rate in enumerate(RATES):
                theta, done = np.zeros((1, 2 * D)), 0
                for e, n_epochs in enumerate(EPOCHS):
                    for order in orders[done:n_epochs]:
                        run_lms_pass(Z, order, y[known][:, np.newaxis], 2.0 * rate, theta)
                    done = n_epochs
                    errors[s, h, e, d] = gnmse(y[unknown], stars @ theta[0])
    return errors


def fit_auto(data: GraphDataset, repeat: int) -> dict[str, float]:
    """GNMSE and cost in plain fits of settings that are all "auto", and GNMSE of the defaults."""
    known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
    y, X = data.scale_values(), data.adjacency[:, known]
    start = time.perf_counter()
    model = SKGRegressor(**AUTO, random_state=repeat).fit(X[known], y[known])
    seconds = time.perf_counter() - start
    plain = SKGRegressor(
        sigma2=model.sigma2_,
        n_frequencies=model.n_frequencies_,
        learning_rate=model.learning_rate_,
        n_epochs=model.n_epochs_,
        random_state=repeat,
    )
    times = []
    for _ in range(3):
        start = time.perf_counter()
        plain.fit(X[known], y[known])
        times.append(time.perf_counter() - start)
    default = SKGRegressor(random_state=repeat).fit(X[known], y[known])
    return {
        "auto": gnmse(y[unknown], model.predict(X[unknown])),
        "default": gnmse(y[unknown], default.predict(X[unknown])),
        "cost": seconds / min(times),
    }


def run_study(data: GraphDataset, *, n_repeats: int, tiny: bool) -> dict[str, float]:
    """Ratios to the best of the grid in hindsight, and the median cost."""
    sigma2 = sigma2_ranges(data.adjacency, n_frequencies=200).extending_disturbing
    grid = np.mean([run_grid(data, r, sigma2, tiny=tiny) for r in range(n_repeats)], axis=0)
    fits = [fit_auto(data, repeat) for repeat in range(n_repeats)]
    best = float(grid.min())
    return {
        "best": best,
        "auto": float(np.mean([fit["auto"] for fit in fits])) / best,
        "default": float(np.mean([fit["default"] for fit in fits])) / best,
        "cost": float(np.median([fit["cost"] for fit in fits])),
    }


def main(argv: list[str] | None = None) -> Report:
    """Print the table row by row, and return the aims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=12)
    parser.add_argument("--tiny", action="store_true", help="for the tests")
    options = parser.parse_args(argv)
    n_repeats = 1 if options.tiny else options.repeats
    print_facts(seed=0)
    print(f"\nGNMSE relative to the best of a joint grid in hindsight, {n_repeats} repeats\n")
    print(f"{'data set':<26}{'N':>5}{'best':>9}{'auto':>8}{'default':>9}{'cost in plain fits':>20}")
    results = []
    for data, *_ in data_sets(options.tiny)[: 1 if options.tiny else None]:
        row = run_study(data, n_repeats=n_repeats, tiny=options.tiny)
        results.append(row)
        print(
            f"{data.name:<26}{round(0.4 * data.n_nodes):>5}{row['best']:>9.4f}{row['auto']:>8.3f}"
            f"{row['default']:>9.3f}{row['cost']:>20.0f}",
            flush=True,
        )
    ratios, costs = ([row[name] for row in results] for name in ("auto", "cost"))
    print(f"{'average':<40}{np.mean(ratios):>8.3f}")
    findings = (
        Finding("auto over hindsight, worst data set", max(ratios), 1.02, at_most=True),
        Finding("cost of the choice, worst data set", max(costs), 60.0, " fits", at_most=True),
    )
    report = Report("Settings that are all auto", findings, (), judged=not options.tiny)
    print(f"\n{report}")
    return report


if __name__ == "__main__":
    main()
