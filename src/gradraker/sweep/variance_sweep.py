"""Measure how predictions depend on the kernel variance: GNMSE over σ², many splits, all cores."""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from gradraker._files import is_stream
from gradraker._locks import lock_file
from gradraker._validation import check_choice, check_count, check_fraction, check_learning_rate
from gradraker.datasets import GraphDataset
from gradraker.exceptions import ArgumentError, SweepError, SweepFileError
from gradraker.features import to_row_arrays
from gradraker.features.engine import DEVICES, choose_engine
from gradraker.features.engines.cuda import CudaEngine
from gradraker.kernels import get_kernel
from gradraker.sweep.repeats import Sweep, end_with_parent, find_boundaries, run_repeat
from gradraker.sweep.sweep_result import Checkpoint, Repeat, SweepResult, draw_repeat
from gradraker.sweep.versions import VERSIONS

Floats = NDArray[np.float64]
# The default grid: its size, and the factor by which it extends beyond the ranges.
_N_VARIANCES = 40
_MARGIN = 4.0
# Repeats that run on a device at once; with more, Python threads wait for each other.
_DEVICE_JOBS = 4


def sigma2_sweep(
    data: Any,
    y: ArrayLike | None = None,
    *,
    sigma2: Sequence[float] | Floats | None = None,
    n_repeats: int = 10,
    fraction: float = 0.4,
    n_frequencies: int = 200,
    learning_rate: float = 0.1,
    n_epochs: int = 3,
    kernel: str = "gaussian",
    random_state: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    device: str = "cpu",
) -> SweepResult:
    """Measure GNMSE of SKG over the kernel variance σ², repeated with new splits of the nodes.

    A repeat draws the known nodes, which are also the referencing nodes, trains on them, and
    predicts the others. All variances of a repeat share its split, frequencies and orders.

    Parameters
    ----------
    data : GraphDataset, or {array-like, sparse matrix} of shape (n, n)
        A graph. Values are scaled to [0, 1] over all nodes, as in the paper.
    y : array-like of shape (n,), optional
        Values of the nodes, if ``data`` is a matrix.
    sigma2 : sequence of floats, optional
        Variances, rising. By default 40 on a logarithmic scale that cover the four ranges of the
        first repeat and extend beyond them by a factor of 4 on both sides.
    n_repeats : int, default=10
        R.
    fraction : float, default=0.4
        Share of the nodes that is known.
    n_frequencies : int, default=200
        D.
    learning_rate : float, default=0.1
        η.
    n_epochs : int, default=3
        E.
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel.
    random_state : int, default=0
        Seed; repeat r depends on it and on r only.
    n_jobs : int, optional
        Worker processes of joblib, each with its share of the cores; -1 is one per core. By
        default those of ``joblib.parallel_config``, else this process, with threads on all cores.
    checkpoint : path-like, optional
        File of results, JSON lines. Each repeat is appended when it is done; the same call
        continues where it stopped, also with a larger ``n_repeats``.
    progress : callable, optional
        Called with a word, the number of repeats done and ``n_repeats``.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where all variances of a repeat are trained: ``"cuda"`` uses an NVIDIA GPU, with several
        repeats at once on threads of this process; ``"auto"`` uses one if there is one.

    Returns
    -------
    SweepResult

    Notes
    -----
    Repeat r draws its split, then a seed s, from ``numpy.random.default_rng([random_state, r])``.
    Its GNMSE at a variance is that of ``SKGRegressor(sigma2=..., random_state=s)``. Results do not
    depend on ``n_jobs`` or on interruptions.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_sweep
    >>> result = sigma2_sweep(load_temperature(), n_repeats=20)
    >>> result
    SweepResult: Temperature-Jan, 40 variances from ... to ..., 20 repeats, D = 200, η = 0.1, E = 3
      smallest GNMSE 0.03... ± 0.00... at σ² = ...
      σ²_ed = ... (median), GNMSE there 0.03...
    >>> result.gnmse.shape
    (20, 40)
    """
    dataset = _to_dataset(data, y)
    sweep = Sweep(
        *to_row_arrays(dataset.adjacency),
        _scale_values(dataset),
        np.empty(0),
        check_fraction("fraction", fraction),
        check_count("n_frequencies", n_frequencies),
        check_learning_rate(learning_rate),
        check_count("n_epochs", n_epochs),
        get_kernel(kernel).name,
        check_count("random_state", random_state, at_least=0),
    )
    jobs: Any = n_jobs
    if jobs is not None and (not isinstance(jobs, int | np.integer) or jobs == 0):
        raise ArgumentError("n_jobs", "None or an integer other than 0", jobs)
    _check_splits(sweep, check_count("n_repeats", n_repeats))
    sweep = sweep._replace(sigma2=_make_grid(sweep) if sigma2 is None else _check_grid(sigma2))
    settings = _describe(sweep, dataset, n_repeats)
    report = progress or (lambda stage, n_done, total: None)
    run = partial(_run, sweep, n_jobs=n_jobs)
    if check_choice("device", device, DEVICES) != "cpu":
        engine: Any = choose_engine(device)
        if engine.name != "cpu":
            run = partial(_run_on_device, sweep, engine)
    if checkpoint is None:
        return _run_all(run, settings, None, report)

    def refuse() -> None:
        problem = "is written by another sweep that is running: wait for it, or name another file"
        raise SweepFileError(os.fspath(checkpoint), problem)

    # Devices and FIFOs have no lock.
    with nullcontext() if is_stream(checkpoint) else lock_file(checkpoint, on_wait=refuse):
        return _run_all(run, settings, Checkpoint(checkpoint, settings), report)


def _run_all(
    run: Callable[[list[int]], Any],
    settings: dict[str, Any],
    file: Checkpoint | None,
    report: Callable[[str, int, int], None],
) -> SweepResult:
    """Run the missing repeats, and append each to the file when it is done."""
    n_repeats = settings["n_repeats"]
    done: dict[int, Repeat] = {} if file is None else file.done
    report("sweeping", len(done), n_repeats)
    for repeat in run([r for r in range(n_repeats) if r not in done]):
        done[repeat.number] = repeat
        if file is not None:
            file.add(repeat)
        report("sweeping", len(done), n_repeats)
    if file is not None:
        file.write()
    return SweepResult.from_repeats(settings, list(done.values()))


def _run(sweep: Sweep, todo: list[int], n_jobs: int | None) -> Any:
    """Yield repeats as they are done, by the configured backend of joblib."""
    if not todo:
        return iter(())
    backend, _ = get_active_backend()
    # Workers use the number of threads that their backend gives them (features.engine); a backend
    # that gives none starts one worker per core, so these use no threads.
    threads = effective_n_jobs(n_jobs) == 1 or backend.supports_inner_max_num_threads
    if n_jobs is not None and n_jobs > len(todo):
        n_jobs = len(todo)  # every worker gets a task, which tells it the id of its parent
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    parent = os.getpid()
    return parallel(delayed(_run_in_worker)(sweep, r, threads, parent) for r in todo)


def _run_on_device(sweep: Sweep, engine: CudaEngine, todo: list[int]) -> Any:
    """Yield repeats as they are done; while one trains, threads prepare others."""
    parallel = Parallel(n_jobs=_DEVICE_JOBS, backend="threading", return_as="generator_unordered")
    return parallel(delayed(run_repeat)(sweep, r, threads=False, engine=engine) for r in todo)


def _run_in_worker(sweep: Sweep, repeat: int, threads: bool, parent: int) -> Repeat:
    end_with_parent(parent)
    return run_repeat(sweep, repeat, threads=threads)


def _to_dataset(data: Any, y: ArrayLike | None) -> GraphDataset:
    if isinstance(data, GraphDataset):
        if y is not None:
            raise ValueError("y must be None if data is a GraphDataset, which has values")
        return data
    if y is None:
        raise ValueError(
            "y is None, but values are needed: give a GraphDataset, or a square matrix and y"
        )
    try:
        n_dimensions = len(data.shape) if issparse(data) else np.ndim(data)
    except ValueError:  # rows of different lengths
        n_dimensions = 0
    if n_dimensions != 2:
        raise ArgumentError("data", "a GraphDataset or a square matrix", data)
    try:
        values = np.atleast_1d(np.asarray(y, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ArgumentError("y", "one number per node", y) from error
    if np.isnan(values).any():
        raise ValueError(
            "y holds NaN, but a sweep needs the value of every node: leave nodes without a value "
            "out, data[known][:, known] and y[known]"
        )
    return GraphDataset(data, values, name="data")


def _scale_values(dataset: GraphDataset) -> Floats:
    values = dataset.scale_values()
    if not values.any():
        raise ValueError(
            f"the values of all {dataset.n_nodes} nodes are {dataset.values[0]:g}: there is "
            "nothing to predict"
        )
    return values


def _check_splits(sweep: Sweep, n_repeats: int) -> None:
    """Refuse splits that would fail in a late repeat, before any work."""
    for repeat in range(n_repeats):
        unknown = draw_repeat(sweep.values.size, sweep.fraction, sweep.random_state, repeat).unknown
        if not sweep.values[unknown].any():
            raise SweepError(
                f"in repeat {repeat} all {unknown.size} unknown nodes have the smallest value, so "
                "GNMSE would divide by 0",
                {"fraction": "lower", "random_state": "take another"},
            )


def _check_grid(sigma2: Any) -> Floats:
    try:
        grid = np.asarray(sigma2, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or grid.size == 0:
        raise ArgumentError("sigma2", "a sequence of numbers", sigma2)
    if not (np.isfinite(grid).all() and grid[0] > 0.0 and np.all(np.diff(grid) > 0.0)):
        raise ArgumentError("sigma2", "positive and rising", grid.tolist())
    return grid


def _make_grid(sweep: Sweep) -> Floats:
    """Make a grid of variances that covers the ranges of the first repeat."""
    known = draw_repeat(sweep.values.size, sweep.fraction, sweep.random_state, 0).known
    boundaries, _ = find_boundaries(
        sweep.adjacency[:, known][known], n_frequencies=sweep.n_frequencies, kernel=sweep.kernel
    )
    if np.isnan(boundaries).any():
        raise SweepError(
            "the known nodes of the first repeat all have the same edges, so there are no ranges "
            "to choose variances from",
            {"sigma2": "give", "fraction": "raise"},
        )
    return np.geomspace(boundaries[0] / _MARGIN, boundaries[2] * _MARGIN, _N_VARIANCES)


def _describe(sweep: Sweep, dataset: GraphDataset, n_repeats: int) -> dict[str, Any]:
    """Return the settings of the sweep, ready for JSON."""
    columns = sweep.indices.astype(np.int64)
    return {
        "data": {
            "name": dataset.name,
            "nodes": dataset.n_nodes,
            "edges": dataset.n_edges,
            "sha256_adjacency": _hash(sweep.indptr, columns, sweep.weights),
            "sha256_values": _hash(dataset.values),
        },
        "sigma2": sweep.sigma2.tolist(),
        "n_repeats": int(n_repeats),
        **dict(zip(Sweep._fields[5:], sweep[5:], strict=True)),  # fraction, …, random_state
        "versions": VERSIONS,
    }


def _hash(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()
