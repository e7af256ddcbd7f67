"""The gain of more hops: one kernel on walks of 1 or 2 edges, and a bank over both.

40 % of the nodes are known, and all nodes are referencing nodes, or the known ones only. Walks
go through all nodes. Every view takes σ² by the rule "theory". GNMSE of unknown nodes is relative
to that of plain one hop.

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
    f"{view}, {weights}" for weights in HOP_WEIGHTS for view in ("1 hop", "2 hops", "bank")
)


def run_study(
    data: Any,
    n_frequencies: int,
    learning_rate: float,
    *,
    n_repeats: int,
    all_references: bool,
) -> dict[str, float]:
    """Mean GNMSE of each view alone and of the bank over both, for each way to count walks."""
    y = data.scale_values()
    parameters: dict[str, Any] = {"n_frequencies": n_frequencies, "learning_rate": learning_rate}
    every = {weights: hop_views(data.adjacency, hop_weights=weights) for weights in HOP_WEIGHTS}  # type: ignore[arg-type]
    errors = np.empty((n_repeats, len(COLUMNS)))
    for repeat in range(n_repeats):
        known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        references = np.arange(data.n_nodes) if all_references else known
        width = references.size
        found = []
        for views in every.values():
            X = views.rows[:, np.concatenate([references, references + data.n_nodes])]
            for columns in (slice(0, width), slice(width, None)):
                model = SKGRegressor(sigma2="theory", random_state=repeat, **parameters)
                model.fit(X[known][:, columns], y[known])
                found.append(gnmse(y[unknown], model.predict(X[unknown][:, columns])))
            widths = dict.fromkeys(views.views, width)
            bank = GradrakerRegressor(
                kernels=["theory"], views=widths, random_state=repeat, **parameters
            ).fit(X[known], y[known])
            found.append(gnmse(y[unknown], bank.predict(X[unknown])))
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
    print(
        f"\nGNMSE of unknown nodes over that of plain one hop, {n_repeats} repeats, {references}\n"
    )
    print(f"{'data set':<26}{'1 hop':>8}" + "".join(f"{column:>21}" for column in COLUMNS[1:]))
    results = {}
    for data, n_frequencies, learning_rate in data_sets(options.tiny):
        row = run_study(
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
