"""The share of true values inside 90 % intervals, and the width of the intervals.

40 % of the nodes are known, by ``default_rng(s).permutation(n)``, s = 0 … 19, and the others are
predicted with intervals. The interval score is the width, plus 2 / (1 − .9) times the distance of a
missed value (Gneiting and Raftery 2007): smaller is better. It is compared with that of intervals
of one width for all nodes, the 90 % quantile of the left-out errors of the same model. Twitch
(``--full`` only) is read from GRADRAKER_DATA; missing data sets are skipped.

Run ``python benchmarks/bench_intervals.py --full``.
"""

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from bench_real_size import TWITCH, read_graph
from gradraker import NodeRegressor
from node_signals import not_smooth
from report import Agreement, Finding, Report, finish, options, run_alone, table
from signals import data_sets

COVERAGE = 0.9
ALLOWED = 0.02  # of coverage, averaged over splits
Vector = NDArray[np.float64]


class Judged(NamedTuple):
    """Intervals of the unknown nodes of one split."""

    coverage: float
    score: float
    coverage_of_one_width: float
    score_of_one_width: float


def compute_score(y: Vector, low: Vector, high: Vector) -> float:
    """The interval score: width plus penalty for misses."""
    missed = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return float(np.mean(high - low + 2.0 / (1.0 - COVERAGE) * missed))


def compute_score_by_loop(y: Vector, low: Vector, high: Vector) -> float:
    """The same, node by node, from its definition."""
    total = 0.0
    for value, start, stop in zip(y, low, high, strict=True):
        total += stop - start
        if value < start:
            total += 2.0 / (1.0 - COVERAGE) * (start - value)
        if value > stop:
            total += 2.0 / (1.0 - COVERAGE) * (value - stop)
    return total / len(y)


def judge_split(A: csr_array, y: Vector, seed: int) -> tuple[Judged, Agreement]:
    order = np.random.default_rng(seed).permutation(y.size)
    known, unknown = np.split(order, [round(0.4 * y.size)])
    values = np.full(y.size, np.nan)
    values[known] = y[known]
    model = NodeRegressor().fit(A, values, kind="matrix")
    predicted, ends = model.predict(unknown.tolist(), return_interval=True, coverage=COVERAGE)
    low, high = ends.T
    left_out = model.predict_left_out()
    errors = np.abs(left_out.values - left_out.predictions)
    width = np.quantile(errors, min(1.0, COVERAGE * (1.0 + 1.0 / errors.size)), method="higher")
    same = predicted - width, predicted + width
    truth = y[unknown]
    score = compute_score(truth, low, high)
    judged = Judged(
        float(np.mean((low <= truth) & (truth <= high))),
        score,
        float(np.mean((same[0] <= truth) & (truth <= same[1]))),
        compute_score(truth, *same),
    )
    apart = abs(score - compute_score_by_loop(truth, low, high))
    return judged, Agreement("interval score and its definition", apart, 1e-9)


def list_signals(tiny: bool, full: bool) -> dict[str, tuple[csr_array, Vector]]:
    """Graphs with values: available data sets, and generated ones, smooth along edges or not."""
    found = {data.name: (data.adjacency, data.scale_values()) for data, _, _ in data_sets(tiny)}
    found |= not_smooth(64 if tiny else 400, 0)
    twitch = read_graph(TWITCH, "y_log_views") if full else None
    if twitch is not None:
        found["Twitch"] = twitch.A, (twitch.y - twitch.y.min()) / np.ptp(twitch.y)
    return found


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    n_splits = 2 if arguments.tiny else 20 if arguments.full else 5
    rows, findings, agreements = [], [], []
    for name, (A, y) in list_signals(arguments.tiny, arguments.full).items():
        runs = [judge_split(A, y, seed) for seed in range(n_splits)]
        found = Judged(*np.mean([judged for judged, _ in runs], axis=0))
        spread = float(np.std([judged.coverage for judged, _ in runs]) / n_splits**0.5)
        ratio = found.score / found.score_of_one_width
        agreements.append(max((check for _, check in runs), key=lambda check: check.difference))
        rows.append(
            [
                name,
                f"{y.size}",
                f"{100 * found.coverage:.1f} ± {100 * spread:.1f} %",
                f"{found.score:.3f}",
                f"{100 * found.coverage_of_one_width:.1f} %",
                f"{found.score_of_one_width:.3f}",
                f"{ratio:.3f}",
            ]
        )
        print(rows[-1], file=sys.stderr, flush=True)
        off = abs(found.coverage - COVERAGE)
        findings.append(Finding(f"{name}: coverage, off by", off, ALLOWED, "", True))
        findings.append(Finding(f"{name}: interval score, over one width's", ratio, 1.0, "", True))
    header = ["values", "nodes", "inside", "score", "one width: inside", "score", "ratio"]
    report = Report(
        "Intervals of node models",
        tuple(findings),
        (max(agreements, key=lambda check: check.difference),),
        (table(header, rows),),
        judged=arguments.full,
    )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
