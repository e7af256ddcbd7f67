"""Node models compared with off-the-shelf methods, on the same splits in the same run.

40 % of the nodes are known, ``default_rng(s).permutation(n)[:round(.4 n)]`` for s = 0 … 4, and the
others are predicted; values are scaled to [0, 1]. GNMSE is the squared error over the squared
values; tables show means over s, and the spread (standard deviation). No method uses the value of
an unknown node: peers are tuned by cross-validation on the known nodes, node models choose by
leave-one-out.

Peers of other packages come with ``pip install gradraker[peers]``; missing ones are named and
skipped. ``--full`` adds fresh splits, from s = 100 on, that were
not used while node models were developed.

Run ``python benchmarks/bench_peers.py --full``.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from class_peers import CLASSES
from gradraker import NodeClassifier, NodeRegressor, datasets, gnmse
from node_signals import not_smooth, smooth
from peers import SAME_ROWS, WHOLE_GRAPH, Nodes, Peer, mean, missing, present, skg
from report import SEED, Agreement, Finding, Report, finish, options, run_alone, table
from signals import data_sets

N_SPLITS = 5
SOLVERS = ("exact", "operators")
FIRST_FRESH = 100
# The aims of accuracy, and the best of the peers where they were first measured.
ACCURACY = {"Email-Eu-core": 0.75, "Cora-Con": 0.795}


def splits(n: int, n_splits: int, first: int = 0) -> Iterator[tuple[Nodes, Nodes]]:
    for s in range(first, first + n_splits):
        order = np.random.default_rng(s).permutation(n)
        yield order[: round(0.4 * n)], order[round(0.4 * n) :]


def node_model(
    A: csr_array, y: np.ndarray, known: Nodes, unknown: Nodes, **parameters: object
) -> Any:
    """Predictions of a node regressor that chooses everything else itself."""
    values = np.full(y.size, np.nan)
    values[known] = y[known]
    return NodeRegressor(**parameters).fit(A, values).predict(unknown)  # type: ignore[arg-type]


def errors(
    methods: Mapping[str, Peer], A: csr_array, y: np.ndarray, n_splits: int, first: int = 0
) -> dict[str, np.ndarray]:
    """GNMSE of each method, one for each split."""
    found: dict[str, list[float]] = {name: [] for name in methods}
    for known, unknown in splits(y.size, n_splits, first):
        for name, method in methods.items():
            found[name].append(gnmse(y[unknown], method(A, y, known, unknown)))
    return {name: np.array(values) for name, values in found.items()}


def shown(values: np.ndarray) -> str:
    return f"{values.mean():.4f} ± {values.std():.4f}"


def best_of(names: Sequence[str], found: Mapping[str, np.ndarray]) -> float:
    return min(float(found[name].mean()) for name in names if name in found)


# -- values -------------------------------------------------------------------------


def values_part(tiny: bool, n_splits: Any) -> tuple[list[str], list[Finding]]:
    """The table of errors on data, and node models compared with the best peer."""
    same_rows = {} if tiny else present(SAME_ROWS)
    whole = {} if tiny else present(WHOLE_GRAPH)
    # Peers get the links from a node to known nodes, so the local form uses no others.
    local = {"NodeRegressor, same rows": partial(node_model, neighbours="known", direction="out")}
    columns, findings = {}, []
    for data, n_frequencies, learning_rate in data_sets(tiny)[: 2 if tiny else 4]:
        skgs = {
            "SKG, algorithm 1": skg("theory", n_frequencies, learning_rate),
            'SKG, sigma2="cv"': skg("cv", n_frequencies, learning_rate),
        }
        methods = {
            "the mean": mean,
            **skgs,
            **same_rows,
            **local,
            **whole,
            "NodeRegressor": node_model,
        }
        print(f"{data.name}: {len(methods)} methods, {n_splits} splits", file=sys.stderr)
        found = errors(methods, data.adjacency, data.scale_values(), n_splits)  # type: ignore[arg-type]
        columns[data.name] = found
        best, nearby = (best_of([*skgs, "the mean", *some], found) for some in (whole, same_rows))
        findings += [
            _compared(data.name, found["NodeRegressor"], min(best, nearby)),
            _compared(f"{data.name}, same rows", found[next(iter(local))], nearby),
        ]
    rows = [[name, *(shown(column[name]) for column in columns.values())] for name in methods]
    return [table(["GNMSE", *columns], rows)], findings


def fresh_part() -> tuple[list[str], list[Finding]]:
    """Splits that were not used while node models were developed, for the strongest peers."""
    names = ("Gaussian", "PyGSP", "LightGBM", "GCN")
    packaged = {**SAME_ROWS, **WHOLE_GRAPH}
    peers = {k: v for k, v in present(packaged).items() if k.startswith(names)}
    methods = {**peers, "NodeRegressor": node_model}
    columns, findings = {}, []
    for data, _, _ in data_sets(False)[:4]:
        # Five splits of a graph as small as Temperature's are too noisy.
        n_splits = N_SPLITS if data.n_nodes > 200 else 5 * N_SPLITS
        found = errors(methods, data.adjacency, data.scale_values(), n_splits, FIRST_FRESH)
        columns[data.name] = found
        findings.append(
            _compared(f"{data.name}, fresh", found["NodeRegressor"], best_of(list(peers), found))
        )
    rows = [[name, *(shown(column[name]) for column in columns.values())] for name in methods]
    return [table([f"GNMSE, s = {FIRST_FRESH} …", *columns], rows)], findings


def _compared(name: str, ours: np.ndarray, best: float) -> Finding:
    return Finding(f"{name}: GNMSE over the best peer's", float(ours.mean()) / best, 1.0, "", True)


# -- classes ------------------------------------------------------------------------


def class_model(A: csr_array, labels: np.ndarray, known: Nodes, unknown: Nodes) -> NodeClassifier:
    values = np.full(labels.size, None, dtype=object)
    values[known] = labels[known].tolist()
    return NodeClassifier().fit(A, values)


def classes_part(tiny: bool, n_splits: int) -> tuple[list[str], list[Finding]]:
    """The table of accuracies, and the calibration of probabilities."""
    if tiny:
        block = datasets.make_block_graph(60, random_state=SEED)
        found = [("block", block.adjacency, (block.scale_values() > 0.5).astype(np.int64))]
    else:
        found = [
            (data.name, data.adjacency, np.unique(data.values, return_inverse=True)[1])
            for data, _, _ in data_sets(tiny)[2:4]
        ]
    methods = present(CLASSES) if not tiny else {}
    columns: dict[str, dict[str, np.ndarray]] = {}
    findings = []
    for name, A, labels in found:
        right: dict[str, list[float]] = {peer: [] for peer in methods}
        ours, calibration = [], []
        for known, unknown in splits(labels.size, n_splits):
            for peer, method in methods.items():
                right[peer].append(np.mean(method(A, labels, known, unknown) == labels[unknown]))  # type: ignore[arg-type]
            model = class_model(A, labels, known, unknown)
            chances = model.predict_proba(unknown)
            hit = model.classes_[chances.argmax(axis=1)].astype(np.int64) == labels[unknown]
            ours.append(hit.mean())
            calibration.append(calibration_error(chances.max(axis=1), hit))
        right["NodeClassifier"] = ours
        right["  its calibration error"] = calibration
        columns[name] = {peer: np.array(values) for peer, values in right.items()}
        best = max([0.0, *(float(np.mean(right[peer])) for peer in methods)])
        aim = max(best, ACCURACY.get(name, 0.0))
        findings += [
            Finding(f"{name}: accuracy", float(np.mean(ours)), round(aim, 4), ""),
            Finding(f"{name}: calibration error", float(np.mean(calibration)), None, ""),
        ]
    names = next(iter(columns.values()))
    rows = [[peer, *(shown(column[peer]) for column in columns.values())] for peer in names]
    return [table(["accuracy", *columns], rows)], findings


def calibration_error(chance: np.ndarray, hit: np.ndarray, n_bins: int = 15) -> float:
    """Mean distance between probability and how often it is right, over bins of probability."""
    bins = np.minimum((chance * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, weights=chance, minlength=n_bins) - np.bincount(
        bins, weights=hit, minlength=n_bins
    )
    return float(np.abs(gaps).sum() / chance.size)


# -- generated graphs-----------------------------------------------------------------


def made_part(tiny: bool, n_splits: int) -> tuple[list[str], list[Finding]]:
    """Generated graphs, smooth or not: errors over that of the mean."""
    n_nodes = 49 if tiny else 400
    names = ("scikit-network Dirichlet", "PyGSP Tikhonov", "LightGBM, degree + spectral")
    peers = {} if tiny else {k: v for k, v in present(WHOLE_GRAPH).items() if k in names}
    methods = {"the mean": mean, **peers, "NodeRegressor": node_model}
    rows, worst, against = [], 0.0, []
    for title, made in (("", smooth(n_nodes, SEED)), ("", not_smooth(n_nodes, SEED))):
        for name, (A, y) in made.items():
            found = errors(methods, A, y, n_splits)
            level = found["the mean"].mean()
            ratios = {method: float(found[method].mean()) / level for method in methods}
            worst = max(worst, ratios["NodeRegressor"])
            spread = [ratios[k] for k in names[:2] if k in ratios]
            against += [ratios["NodeRegressor"] / min(spread)] if spread else []
            rows.append([f"{title}{name}", f"{level:.4f}", *(f"{ratios[m]:.3f}" for m in methods)])
    findings = [Finding("worst made graph: GNMSE over that of the mean", worst, 1.02, "", True)]
    if against:
        label = "worst made graph: GNMSE over Dirichlet's and Tikhonov's"
        findings.append(Finding(label, max(against), 1.02, "", True))
    header = ["GNMSE over that of the mean", "the mean's", *methods]
    return [table(header, rows)], findings


# -- time -----------------------------------------------------------------------------


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def time_part(tiny: bool) -> tuple[list[str], list[Finding]]:
    """Time of fit and choice on Cora-Con; ``bench_real_size.py`` has larger graphs."""
    if tiny:
        return [], []
    data = datasets.fetch_cora_con()
    y = data.scale_values()
    values = np.full(y.size, np.nan)
    known, _ = next(splits(y.size, 1))
    values[known] = y[known]
    NodeRegressor().fit(data.adjacency[:50, :50], y[:50])  # loads the compiled loops
    busy = time.process_time()
    fits = [seconds_of(lambda: NodeRegressor().fit(data.adjacency, values)) for _ in range(3)]
    busy = (time.process_time() - busy) / len(fits)
    return [], [
        Finding("Cora-Con: fit and choice", min(fits), 5.0, " s", True),
        Finding("Cora-Con: fit and choice, time of processors", busy, None, " s"),
    ]


# -- online ---------------------------------------------------------------------------


def online_part(tiny: bool) -> tuple[list[Agreement], list[Finding]]:
    """The same values one at a time, in chunks, and at once, with a prediction after each call."""
    n_nodes = 60 if tiny else 400
    data = datasets.make_geometric_graph(n_nodes, random_state=SEED)
    order = np.random.default_rng(SEED).permutation(n_nodes)
    known, unknown = order[: n_nodes // 2], order[n_nodes // 2 :]
    found, seconds = {}, {}
    for solver in SOLVERS:
        for size in (1, 17, known.size):
            model = NodeRegressor(
                blocks=("hop1", "hop2", "hop3", "degree"),
                width=2.0,
                alpha=0.01,
                solver=solver,
                tol=1e-10,
            )
            model.partial_fit(data.adjacency)
            start = time.perf_counter()
            for first in range(0, known.size, size):
                some = known[first : first + size]
                model.partial_fit(values=dict(zip(some.tolist(), data.values[some], strict=True)))
                model.predict(unknown[:1])
            seconds[solver, size] = (time.perf_counter() - start) / known.size
            found[solver, size] = model.predict(unknown)
    agreements = [
        Agreement(
            f"online, {solver}: {'one at a time' if size == 1 else 'in chunks'} and at once",
            float(np.abs(found[solver, size] - found[solver, known.size]).max()),
            1e-8,
        )
        for solver in SOLVERS
        for size in (1, 17)
    ]
    label = "online, exact: a node, learned and one asked"
    return agreements, [Finding(label, 1e3 * seconds["exact", 1], None, " ms")]


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    tiny, full = arguments.tiny, arguments.full
    n_splits = 1 if tiny else N_SPLITS
    absent = missing({**WHOLE_GRAPH, **CLASSES})
    tables, findings = [], []
    if absent:
        tables.append(f"absent and left out: {', '.join(absent)} (pip install gradraker[peers])")
    parts = (
        partial(values_part, tiny, n_splits),
        *([fresh_part] if full else []),
        partial(classes_part, tiny, n_splits),
        partial(made_part, tiny, n_splits),
        partial(time_part, tiny),
    )
    for part in parts:
        some, more = part()  # type: ignore[operator]
        tables += some
        findings += more
    agreements, more = online_part(tiny)
    return finish(
        Report(
            "Node models and their peers",
            (*findings, *more),
            tuple(agreements),
            tuple(tables),
            judged=not tiny,
        )
    )


if __name__ == "__main__":
    run_alone(main)
