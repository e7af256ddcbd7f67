"""The gain of adjacency vectors to all nodes instead of the known ones only.

The paper's experiments use the known nodes as referencing nodes. The values of references are
not needed, so all nodes of the graph can be references, as in `predict_nodes` by default.

Run: python benchmarks/bench_references.py [--full | --tiny]
"""

import argparse

import numpy as np

from gradraker import SKGRegressor, gnmse
from gradraker.datasets import GraphDataset, split_nodes
from machine import print_facts
from signals import data_sets


def run_study(
    data: GraphDataset, n_frequencies: int, learning_rate: float, n_repeats: int
) -> dict[str, float]:
    """Mean GNMSE of unknown nodes with known references, with all references, and of the mean."""
    y = data.scale_values()
    errors = np.empty((n_repeats, 3))
    for repeat in range(n_repeats):
        known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        for column, X in enumerate((data.adjacency[:, known], data.adjacency)):
            model = SKGRegressor(
                n_frequencies=n_frequencies, learning_rate=learning_rate, random_state=repeat
            ).fit(X[known], y[known])
            errors[repeat, column] = gnmse(y[unknown], model.predict(X[unknown]))
        errors[repeat, 2] = gnmse(y[unknown], np.full(unknown.size, y[known].mean()))
    known_only, all_nodes, of_mean = errors.mean(axis=0)
    return {
        "known": float(known_only),
        "all": float(all_nodes),
        "mean": float(of_mean),
        "ratio": float(known_only / all_nodes),
    }


def main(argv: list[str] | None = None) -> dict[str, dict[str, float]]:
    """Print the table and return it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="50 repeats")
    parser.add_argument("--tiny", action="store_true", help="for the tests")
    options = parser.parse_args(argv)
    n_repeats = 50 if options.full else 2 if options.tiny else 20
    print_facts(seed=0)
    print(f"\nGNMSE of unknown nodes by referencing nodes, rule 'cv', {n_repeats} repeats\n")
    print(f"{'data set':<26}{'known nodes':>15}{'all nodes':>12}{'ratio':>8}{'the mean':>10}")
    results = {}
    for data, n_frequencies, learning_rate in data_sets(options.tiny):
        row = run_study(data, n_frequencies, learning_rate, n_repeats)
        results[data.name] = row
        print(
            f"{data.name:<26}{row['known']:>15.4f}{row['all']:>12.4f}"
            f"{row['ratio']:>7.2f}×{row['mean']:>10.4f}",
            flush=True,
        )
    return results


if __name__ == "__main__":
    main()
