"""How good are the rules that choose σ²: GNMSE relative to the best σ² in hindsight.

For each data set and repeat, 40 % of the nodes are known (they are also the referencing
nodes), every rule trains with the same frequencies and orders, and GNMSE is taken on the
other nodes. The denominator is the mean GNMSE of the single variance of a 40-point grid that
is best on average over the same repeats, which cannot be known beforehand.

Run: python benchmarks/bench_sigma2.py [--repeats 20] [--full | --tiny]
"""

import argparse
import time

import numpy as np
from scipy.sparse import csr_array

from gradraker import SKGRegressor, gnmse, sigma2_ranges
from gradraker.datasets import GraphDataset, split_nodes
from gradraker.features import FrequencyTable
from gradraker.kernels.median_rule import median_sigma2
from gradraker.models.sigma2 import RuleInput, measure_noise_ratios
from machine import print_facts
from report import Finding, Report
from signals import data_sets

RULES = ("theory", "refined", "cv", "median", "median/2", 'gamma="scale"', "gamma=1")
N_EPOCHS = 3


def list_rule_parameters(X: csr_array) -> dict[str, float | str]:
    """The parameter ``sigma2`` of each rule; peers' defaults are σ² = 1/(2 gamma)."""
    variance = X.multiply(X).mean() - X.mean() ** 2
    return {
        "theory": "theory",
        "refined": "refined",
        "cv": "cv",
        "median": "median",
        "median/2": median_sigma2(X, rng=np.random.default_rng(0)) / 2,
        'gamma="scale"': X.shape[1] * variance / 2,
        "gamma=1": 0.5,  # RBFSampler's default
    }


def run_study(
    data: GraphDataset, n_frequencies: int, learning_rate: float, *, n_repeats: int, n_grid: int
) -> dict[str, float]:
    """Ratio of each rule's mean GNMSE to that of the best single variance of the grid."""
    y = data.scale_values()
    whole = sigma2_ranges(data.adjacency, n_frequencies=n_frequencies)
    grid = np.geomspace(whole.chaos_extending / 2, 4 * whole.disturbing_averaging, n_grid)
    errors = np.empty((n_repeats, n_grid + len(RULES)))
    for repeat in range(n_repeats):
        known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        X, X_unknown = data.adjacency[known][:, known], data.adjacency[unknown][:, known]
        for column, sigma2 in enumerate([*grid, *list_rule_parameters(X).values()]):
            model = SKGRegressor(
                sigma2=sigma2,
                n_frequencies=n_frequencies,
                learning_rate=learning_rate,
                n_epochs=N_EPOCHS,
                random_state=repeat,
            ).fit(X, y[known])
            errors[repeat, column] = gnmse(y[unknown], model.predict(X_unknown))
    means = errors.mean(axis=0)
    best = int(means[:n_grid].argmin())
    ratios = dict(zip(RULES, means[n_grid:] / means[best], strict=True))
    return {"best": float(means[best]), "at": float(grid[best]), **ratios}


def measure_cost_of_cv(data: GraphDataset, n_frequencies: int, learning_rate: float) -> float:
    """Time of a fit with ``sigma2="cv"`` over a fit with a number, medians of alternating runs."""
    known, _ = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
    X, y = data.adjacency[known][:, known], data.scale_values()[known]
    times: dict[float | str, list[float]] = {1.0: [], "cv": []}
    for _ in range(7):
        for sigma2, seconds in times.items():
            model = SKGRegressor(
                sigma2=sigma2,
                n_frequencies=n_frequencies,
                learning_rate=learning_rate,
                n_epochs=N_EPOCHS,
                random_state=0,
            )
            start = time.perf_counter()
            model.fit(X, y)
            seconds.append(time.perf_counter() - start)
    return float(np.median(times["cv"]) / np.median(times[1.0]))


def vary_last_node(
    data: GraphDataset, n_frequencies: int, learning_rate: float
) -> dict[str, float]:
    """σ²_ed of algorithm 2 by the choice of the node T + 1, over σ²_ed of the formula."""
    known, _ = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
    X = data.adjacency[known][:, known]
    formula = sigma2_ranges(X, n_frequencies=n_frequencies)
    table = FrequencyTable(0, n_frequencies, "gaussian", n_numbered=X.shape[1])
    no_values = np.zeros((X.shape[0], 1))
    ratios = measure_noise_ratios(
        RuleInput(X, no_values, table, learning_rate, N_EPOCHS),
        formula.extending_disturbing,
        np.random.default_rng(0),
    )
    ratios = ratios[ratios > 0]
    choices = {
        "lowest node": ratios.min(),
        "median node": np.median(ratios),
        "highest node": ratios.max(),
    }
    return {
        name: float(np.log(formula.noise_ratio) / np.log(ratio)) for name, ratio in choices.items()
    }


def main(argv: list[str] | None = None) -> Report:
    """Print the tables row by row, and return the aims of the default rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--full", action="store_true", help="50 repeats")
    parser.add_argument("--tiny", action="store_true", help="for the tests")
    options = parser.parse_args(argv)
    n_repeats = 50 if options.full else 2 if options.tiny else options.repeats
    print_facts(seed=0)
    print(f"\nGNMSE over that of the best of 40 σ² in hindsight, {n_repeats} repeats\n")
    print(f"{'data set':<26}{'N':>5}{'best':>8}{'at σ²':>8}  " + "".join(f"{r:>14}" for r in RULES))
    results = {}
    sets = data_sets(options.tiny)
    for data, n_frequencies, learning_rate in sets:
        row = run_study(
            data,
            n_frequencies,
            learning_rate,
            n_repeats=n_repeats,
            n_grid=8 if options.tiny else 40,
        )
        results[data.name] = row
        n_known = round(0.4 * data.n_nodes)
        print(
            f"{data.name:<26}{n_known:>5}{row['best']:>8.4f}{row['at']:>8.3g}  "
            + "".join(f"{row[rule]:>14.3f}" for rule in RULES),
            flush=True,
        )
    table = np.array([[row[rule] for rule in RULES] for row in results.values()])
    print(f"{'average':<47}  " + "".join(f"{value:>14.3f}" for value in table.mean(axis=0)))
    print(f"{'worst':<47}  " + "".join(f"{value:>14.3f}" for value in table.max(axis=0)))
    cv = table[:, RULES.index("cv")]
    print("\nCost of a fit with sigma2='cv' in fits with a number")
    costs = {data.name: measure_cost_of_cv(data, *settings) for data, *settings in sets}  # type: ignore[arg-type]
    for name, cost in costs.items():
        print(f"{name:<26}{cost:>8.1f}")
    print("\nAlgorithm 2: σ²_ed over that of the formula, by the held-out node that is T + 1")
    for data, n_frequencies, learning_rate in sets:
        moved = vary_last_node(data, n_frequencies, learning_rate)
        print(
            f"{data.name:<26}" + "".join(f"{name} {value:.2f}   " for name, value in moved.items())
        )
    findings = [
        Finding("cv over hindsight, average of the data sets", cv.mean(), 1.015, at_most=True),
        Finding("cv over hindsight, worst data set", cv.max(), 1.05, at_most=True),
    ]
    if "Cora-Con" in costs:
        cost = costs["Cora-Con"]
        findings.append(Finding("fit with cv on Cora-Con", cost, 20.0, " fits", at_most=True))
    report = Report("The default rule for σ²", tuple(findings), (), judged=not options.tiny)
    print(f"\n{report}")
    return report


if __name__ == "__main__":
    main()
