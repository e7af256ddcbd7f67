"""What more hops bring: one kernel on walks of 1 or 2 edges, and a bank over both.

40 % of the nodes are sampled, and all nodes are referencing nodes, or the sampled ones only. Walks
go through all nodes. Every view takes σ² by the rule "theory". Tested GNMSE relative to that of one
hop as it is.

Run: python benchmarks/bench_hops.py [--sampled-references] [--full | --tiny]
"""

import argparse
from typing import Any

import numpy as np

from gradraker import GradrakerRegressor, SKGRegressor, gnmse
from gradraker.datasets import split_nodes
from gradraker.graph import hop_views
from machine import print_facts
from signals import data_sets

HOP_WEIGHTS = ("count", "binary", "random_walk")
COLUMNS = tuple(
    f"{what}, {weights}" for weights in HOP_WEIGHTS for what in ("1 hop", "2 hops", "bank")
)


def study(
    data: Any,
    n_frequencies: int,
    learning_rate: float,
    *,
    n_repeats: int,
    all_references: bool,
) -> dict[str, float]:
    """Mean tested GNMSE of each view alone and of the bank over both, by how walks are counted."""
    y = data.scale_values()
    parameters: dict[str, Any] = {"n_frequencies": n_frequencies, "learning_rate": learning_rate}
    every = {weights: hop_views(data.adjacency, hop_weights=weights) for weights in HOP_WEIGHTS}  # type: ignore[arg-type]
    errors = np.empty((n_repeats, len(COLUMNS)))
    for repeat in range(n_repeats):
        sampled, tested = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        references = np.arange(data.n_nodes) if all_references else sampled
        width = references.size
        found = []
        for views in every.values():
            X = views.rows[:, np.concatenate([references, references + data.n_nodes])]
            for columns in (slice(0, width), slice(width, None)):
                model = SKGRegressor(sigma2="theory", random_state=repeat, **parameters)
                model.fit(X[sampled][:, columns], y[sampled])
                found.append(gnmse(y[tested], model.predict(X[tested][:, columns])))
            widths = dict.fromkeys(views.views, width)
            bank = GradrakerRegressor(
                kernels=["theory"], views=widths, random_state=repeat, **parameters
            ).fit(X[sampled], y[sampled])
            found.append(gnmse(y[tested], bank.predict(X[tested])))
        errors[repeat] = found
    return dict(zip(COLUMNS, errors.mean(axis=0).tolist(), strict=True))


def main(argv: list[str] | None = None) -> dict[str, dict[str, float]]:
    """Print the table and return it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="20 repeats")
    parser.add_argument("--tiny", action="store_true", help="for the tests")
    parser.add_argument("--sampled-references", action="store_true", help="as in the paper")
    options = parser.parse_args(argv)
    n_repeats = 20 if options.full else 1 if options.tiny else 5
    print_facts(seed=0)
    references = "sampled nodes" if options.sampled_references else "all nodes"
    print(f"\nTested GNMSE over that of one hop as it is, {n_repeats} repeats, {references}\n")
    print(f"{'data set':<26}{'1 hop':>8}" + "".join(f"{column:>21}" for column in COLUMNS[1:]))
    results = {}
    for data, n_frequencies, learning_rate in data_sets(options.tiny):
        row = study(
            data,
            n_frequencies,
            learning_rate,
            n_repeats=n_repeats,
            all_references=not options.sampled_references,
        )
        results[data.name] = row
        first, *others = row.values()
        cells = "".join(f"{error / first:>21.3f}" for error in others)
        print(f"{data.name:<26}{first:>8.4f}{cells}", flush=True)
    return results


if __name__ == "__main__":
    main()
