"""Node models on an NVIDIA GPU, compared with two threads of the same machine's CPU.

Fit, choice and all predictions on generated graphs of 10⁶ nodes and 10⁷ edges (``--full``: 10⁷ and
10⁸ on the GPU as well), one value in ten known; exact kernels with 5·10⁴ known nodes of 6·10⁴;
products of a sparse matrix with 1 to 64 columns, and PyTorch's for comparison where it is
installed; all sweeps over σ² of the paper whose data are on this machine (GRADRAKER_DATA). Without
a GPU, the GPU parts are skipped.

Run ``python benchmarks/bench_gpu.py --full``.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker import NodeRegressor, sigma2_sweep
from gradraker.datasets import DatasetUnavailableError, GraphDataset
from gradraker.exceptions import NoDeviceError
from gradraker.features.engine import CpuEngine, Engine, choose_engine
from gradraker.paper.figures.fig1 import make_settings
from gradraker.paper.simulations import DATA, round_down_fraction
from report import SEED, Agreement, Finding, Report, finish, options, run_alone, table

AIMS = {10**6: 10.0, 10**7: 120.0}  # seconds on the GPU
RATIO = 20.0
EXACT_AIM = 60.0  # seconds


class Graph(NamedTuple):
    """Edges, and a number at each node."""

    A: csr_array
    y: NDArray[np.float64]


def make_ring(n_nodes: int, n_each: int = 10) -> Graph:
    """Edges from each node to nodes near it on a ring of shuffled names; a wave with noise."""
    rng = np.random.default_rng(SEED)
    names = rng.permutation(n_nodes).astype(np.int32)
    places = np.empty(n_nodes, dtype=np.int32)
    places[names] = np.arange(n_nodes, dtype=np.int32)
    targets = rng.random((n_nodes, n_each), dtype=np.float32)
    np.log1p(-targets, out=targets)
    steps = (targets * np.float32(1.0 / np.log(0.95))).astype(np.int32) + 1
    del targets
    steps *= 2 * rng.integers(0, 2, steps.shape, dtype=np.int8) - 1
    steps += places[:, np.newaxis]
    steps %= n_nodes
    indices = names[steps]
    indices.sort(axis=1)
    indptr = np.arange(0, n_nodes * n_each + 1, n_each, dtype=np.int32)
    A = csr_array((np.ones(indices.size), indices.ravel(), indptr), shape=(n_nodes, n_nodes))
    A.sum_duplicates()
    y = np.sin(places * (2 * np.pi / 2000)) + 0.3 * rng.normal(size=n_nodes)
    return Graph(A, y)


def measure_fit(device: str, n_nodes: int) -> dict[str, Any]:
    """Fit, choose and predict all; to be called in a fresh process."""
    fit_graph(make_ring(min(n_nodes, 50_000)), device)  # loads compiled loops and kernels
    graph = make_ring(n_nodes)
    times = []
    for _ in range(1 if device == "cpu" else 2):  # CuPy compiles some of its kernels per size
        start = time.perf_counter()
        model = fit_graph(graph, device)
        predicted = model.predict()
        times.append(time.perf_counter() - start)
    unknown = np.ones(n_nodes, dtype=np.bool_)
    unknown[::10] = False
    error = np.mean((graph.y[unknown] - predicted) ** 2) / graph.y[unknown].var()
    return {
        "first": times[0],
        "seconds": times[-1],
        "r2": float(1.0 - error),
        "alpha": model.alpha_,
        "kernel": [list(term) for term in model.kernel_],
        "some": predicted[:: max(1, predicted.size // 10_000)].tolist(),
    }


def fit_graph(graph: Graph, device: str) -> NodeRegressor:
    values = np.full(graph.y.size, np.nan)
    values[::10] = graph.y[::10]
    model = NodeRegressor(device=device, solver="operators")
    return model.fit(graph.A, values, kind="matrix")


def start_measuring(device: str, n_nodes: int) -> subprocess.Popen[str]:
    """Measure in another process, on two cores for the CPU."""
    command = [sys.executable, str(Path(__file__)), "--measure", device, str(n_nodes)]
    environment = dict(os.environ)
    if device == "cpu":
        limits = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        environment |= dict.fromkeys(limits, "2")
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def collect(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("a measuring process failed")
    return dict(json.loads(out))


def measure_fits(sizes: Sequence[int]) -> tuple[str, list[Finding], list[Agreement]]:
    """Fits on the GPU and, at the first size, on two cores at the same time."""
    on_cpu = start_measuring("cpu", sizes[0])
    rows, findings, agreements = [], [], []
    found = []
    for n in sizes:
        run = collect(start_measuring("cuda", n))
        found.append(run)
        times = f"{run['first']:.2f} s", f"{run['seconds']:.2f} s"
        rows.append(["cuda", f"{n}", *times, f"{run['r2']:.4f}"])
        label = f"{n} nodes, {10 * n} edges on the GPU: fit, choice, all predictions"
        findings.append(Finding(f"{label}, first", run["first"], AIMS.get(n), " s", True))
        findings.append(Finding(f"{label}, again", run["seconds"], AIMS.get(n), " s", True))
    slow = collect(on_cpu)
    times = f"{slow['first']:.2f} s", ""
    rows.append(["cpu, 2 threads", f"{sizes[0]}", *times, f"{slow['r2']:.4f}"])
    label = f"{sizes[0]} nodes: how many times as fast as two threads"
    findings.append(Finding(label, slow["seconds"] / found[0]["seconds"], RATIO))
    label = f"{sizes[0]} nodes: the same, first fit of that size in a process"
    findings.append(Finding(label, slow["seconds"] / found[0]["first"], None))
    difference = np.abs(np.subtract(slow["some"], found[0]["some"])).max()
    agreements.append(Agreement("predictions of GPU and CPU, tol 1e-3", float(difference), 1e-2))
    same = slow["alpha"] == found[0]["alpha"] and slow["kernel"] == found[0]["kernel"]
    agreements.append(Agreement("shares and penalty of GPU and CPU", float(not same), 0.0))
    return table(["device", "nodes", "first", "again", "R²"], rows), findings, agreements


# -- exact kernels ------------------------------------------------------------------------


def measure_exact(device: str, n_known: int) -> dict[str, Any]:
    """Fit exact kernels, choice included, and predict the unknown sixth of the nodes."""
    graph = make_ring(n_known + n_known // 5)
    values = np.where(np.arange(graph.y.size) % 6 == 0, np.nan, graph.y)
    start = time.perf_counter()
    model = NodeRegressor(device=device, solver="exact").fit(graph.A, values, kind="matrix")
    fitted = time.perf_counter() - start
    predicted = model.predict()
    took = time.perf_counter() - start - fitted
    unknown = graph.y[np.isnan(values)]
    return {
        "fit": fitted,
        "predict": took,
        "r2": float(1.0 - np.mean((unknown - predicted) ** 2) / unknown.var()),
        "alpha": model.alpha_,
        "kernel": [list(term) for term in model.kernel_],
        "predicted": predicted.tolist(),
    }


def measure_exact_kernels(
    n_known: int, n_compared: int
) -> tuple[str, list[Finding], list[Agreement]]:
    """Exact kernels on the GPU; with fewer known nodes, the CPU must give the same results."""
    cpu, few = (measure_exact(device, n_compared) for device in ("cpu", "cuda"))
    many = measure_exact("cuda", n_known)
    rows = [
        [device, f"{n}", f"{run['fit']:.2f} s", f"{run['predict']:.2f} s", f"{run['r2']:.4f}"]
        for device, n, run in (
            ("cpu", n_compared, cpu),
            ("cuda", n_compared, few),
            ("cuda", n_known, many),
        )
    ]
    apart = float(np.abs(np.subtract(few["predicted"], cpu["predicted"])).max())
    same = few["kernel"] == cpu["kernel"] and np.isclose(few["alpha"], cpu["alpha"])
    label = f"exact kernels of {n_known} known nodes on the GPU: fit, choice"
    return (
        table(["exact kernels", "known", "fit, choice", "predict", "R²"], rows),
        [Finding(label, many["fit"], EXACT_AIM, " s", True)],
        [
            Agreement("exact predictions of GPU and CPU", apart, 1e-6),
            Agreement("exact shares and penalty of GPU and CPU", float(not same), 0.0),
        ],
    )


# -- products -----------------------------------------------------------------------------


def time_on_gpu(xp: Any, work: Callable[[], object], n_times: int) -> float:
    """Median milliseconds between two GPU events."""
    work()
    times = []
    for _ in range(n_times):
        start, stop = xp.cuda.Event(), xp.cuda.Event()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        times.append(xp.cuda.get_elapsed_time(start, stop))
    return float(np.median(times))


def measure_products(engine: Engine, n_nodes: int, widths: Sequence[int]) -> str:
    """Milliseconds of a product A X, and the bytes per second that it must move."""
    graph = make_ring(n_nodes)
    S = csr_array(graph.A + graph.A.T)
    A = engine.load_sparse(S, np.float32)
    times = CpuEngine().load_sparse(S, np.float32)
    rng = np.random.default_rng(SEED)
    rows = []
    for k in widths:
        X = rng.normal(size=(n_nodes, k)).astype(np.float32)
        loaded, product = engine.load(X, np.float32), engine.xp.zeros((n_nodes, k), np.float32)
        took = time_on_gpu(engine.xp, lambda: engine.multiply(A, loaded, k, product), 20)  # noqa: B023
        expected = np.zeros_like(X)
        CpuEngine().multiply(times, X, k, expected)
        if not np.allclose(engine.fetch(product), expected, rtol=1e-4, atol=1e-4):
            raise ValueError(f"the product with {k} columns is wrong")
        moved = 8 * S.nnz + 8 * n_nodes + 8 * n_nodes * k
        rows.append(
            [
                f"{k}",
                f"{took:.3f} ms",
                f"{moved / took / 1e9:.2f} TB/s",
                time_pytorch(S, X),
            ]
        )
    return table(["columns", "ours", "that must be moved", "PyTorch"], rows)


def compare_product(engine: Engine, A: csr_array) -> Agreement:
    X = np.random.default_rng(SEED).normal(size=(A.shape[1], 4))
    product = engine.xp.zeros((A.shape[0], 4))
    engine.multiply(engine.load_sparse(A, np.float64), engine.load(X, np.float64), 4, product)
    difference = np.abs(engine.fetch(product) - A @ X).max()
    return Agreement("product of the engine and of SciPy", float(difference), 1e-12)


# -- sweeps -------------------------------------------------------------------------------


class PaperSweep(NamedTuple):
    """A data set of the paper with its settings."""

    name: str
    data: GraphDataset
    settings: dict[str, Any]


def list_paper_sweeps() -> list[PaperSweep]:
    """Data sets of the paper that are on this machine."""
    found = []
    for key, data in DATA.items():
        try:
            loaded = data.load(False)
        except (DatasetUnavailableError, OSError, ImportError) as error:
            print(f"without {key}: {error}", file=sys.stderr)
            continue
        if isinstance(loaded, GraphDataset):
            fraction = round_down_fraction(data.fraction, loaded.n_nodes)
            found.append(PaperSweep(key, loaded, make_settings(data) | {"fraction": fraction}))
    return found


def measure_sweeps(
    sweeps: Sequence[PaperSweep], *, tiny: bool
) -> tuple[str, list[Finding], list[Agreement]]:
    """All repeats of all data sets on the GPU; the first three on the CPU must agree."""
    rows, total, apart = [], 0.0, 0.0
    for name, data, settings in sweeps:
        few = settings | {"n_repeats": 3}
        expected = sigma2_sweep(data, **few).gnmse
        apart = max(apart, _measure_apart(sigma2_sweep(data, **few, device="cuda").gnmse, expected))
        start = time.perf_counter()
        sigma2_sweep(data, **(few if tiny else settings), device="cuda")
        took = time.perf_counter() - start
        total += took
        rows.append([name, f"{data.n_nodes}", f"{settings['n_repeats']}", f"{took:.2f} s"])
    label = f"sweeps of {len(sweeps)} data sets of the paper, all repeats"
    return (
        table(["sweep", "nodes", "repeats", "GPU"], rows),
        [Finding(label, total, 3.0, " s", True)],
        [Agreement("GNMSE of sweeps on GPU and CPU", apart, 1e-6)],
    )


def _measure_apart(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    return float(np.max(np.abs(found - expected) / expected))


def time_pytorch(S: csr_array, X: NDArray[np.float32]) -> str:
    try:
        import torch
    except ImportError:
        return ""
    if not torch.cuda.is_available():
        return ""
    parts = (torch.from_numpy(S.indptr), torch.from_numpy(S.indices))
    A = torch.sparse_csr_tensor(*parts, torch.from_numpy(S.data).float(), size=S.shape).cuda()
    Y = torch.from_numpy(X).cuda()
    times = []
    for _ in range(10):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        A @ Y
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return f"{np.median(times):.3f} ms"


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    tiny, full = arguments.tiny, arguments.full
    graph = make_ring(6000)
    findings = [Finding("edges per node of the made graph", graph.A.nnz / 6000, None, "")]
    try:
        engine = choose_engine("cuda")
    except NoDeviceError as error:
        print(f"no GPU: {error}")
        check = compare_product(CpuEngine(), graph.A)
        return finish(Report("Node models on a GPU", tuple(findings), (check,), judged=False))
    sizes = [6000] if tiny else [10**6, *([10**7] if full else [])]
    products = measure_products(engine, 6000 if tiny else 10**6, (1, 4, 8, 16, 64))
    exact, timed, equal = measure_exact_kernels(*((1200, 1200) if tiny else (50_000, 2500)))
    sweeps, swept, same = measure_sweeps(list_paper_sweeps(), tiny=tiny)
    fits, found, agreements = measure_fits(sizes)
    report = Report(
        "Node models on a GPU",
        (*findings, *timed, *swept, *found),
        (*equal, *same, *agreements, compare_product(engine, graph.A)),
        (products, exact, sweeps, fits),
        judged=not tiny,
    )
    return finish(report)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure_fit(sys.argv[2], int(sys.argv[3]))))
    else:
        run_alone(main)
