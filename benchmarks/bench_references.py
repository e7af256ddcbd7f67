"""What it brings to point adjacency vectors at all nodes instead of the known ones only.

The paper's experiments use the sampled nodes as referencing nodes. The values of references are
not needed, so all nodes of the graph may serve, and `predict_nodes` does that by default.

Run: python benchmarks/bench_references.py [--full | --tiny]
"""

import argparse

import numpy as np

from gradraker import SKGRegressor, gnmse
from gradraker.datasets import GraphDataset, split_nodes
from machine import print_facts
from signals import data_sets


def study(
    data: GraphDataset, n_frequencies: int, learning_rate: float, n_repeats: int
) -> dict[str, float]:
    """Mean tested GNMSE with sampled references, with all nodes, and of the mean."""
    y = data.scale_values()
    errors = np.empty((n_repeats, 3))
    for repeat in range(n_repeats):
        sampled, tested = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        for column, X in enumerate((data.adjacency[:, sampled], data.adjacency)):
            model = SKGRegressor(
                n_frequencies=n_frequencies, learning_rate=learning_rate, random_state=repeat
            ).fit(X[sampled], y[sampled])
            errors[repeat, column] = gnmse(y[tested], model.predict(X[tested]))
        errors[repeat, 2] = gnmse(y[tested], np.full(tested.size, y[sampled].mean()))
    sampled_only, all_nodes, of_mean = errors.mean(axis=0)
    return {
        "sampled": float(sampled_only),
        "all": float(all_nodes),
        "mean": float(of_mean),
        "ratio": float(sampled_only / all_nodes),
    }


def main(argv: list[str] | None = None) -> dict[str, dict[str, float]]:
    """Print the table and return it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="50 repeats")
    parser.add_argument("--tiny", action="store_true", help="for the tests")
    options = parser.parse_args(argv)
    n_repeats = 50 if options.full else 2 if options.tiny else 20
    print_facts(seed=0)
    print(f"\nTested GNMSE by referencing nodes, rule 'cv', {n_repeats} repeats\n")
    print(f"{'data set':<26}{'sampled nodes':>15}{'all nodes':>12}{'ratio':>8}{'the mean':>10}")
    results = {}
    for data, n_frequencies, learning_rate in data_sets(options.tiny):
        row = study(data, n_frequencies, learning_rate, n_repeats)
        results[data.name] = row
        print(
            f"{data.name:<26}{row['sampled']:>15.4f}{row['all']:>12.4f}"
            f"{row['ratio']:>7.2f}×{row['mean']:>10.4f}",
            flush=True,
        )
    return results


if __name__ == "__main__":
    main()
