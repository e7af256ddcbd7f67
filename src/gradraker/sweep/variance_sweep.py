"""How predictions depend on the kernel variance: GNMSE over σ², many splits, all cores."""

import hashlib
import os
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from gradraker._validation import check_count, check_learning_rate
from gradraker.datasets import GraphDataset
from gradraker.kernels import get_kernel
from gradraker.sweep.checkpoint import Checkpoint, Repeat
from gradraker.sweep.repeat import Sweep, draw_repeat, range_boundaries, run_repeat
from gradraker.sweep.sweep_result import SweepResult
from gradraker.sweep.versions import versions

# The grid that is taken if none is given, and by which factor it goes beyond the ranges.
_N_VARIANCES = 40
_BEYOND = 4.0


def sigma2_sweep(
    data: Any,
    y: ArrayLike | None = None,
    *,
    sigma2: Sequence[float] | NDArray[np.float64] | None = None,
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
) -> SweepResult:
    """GNMSE of SKG over the kernel variance σ², repeated with new splits of the nodes.

    A repeat samples a part of the nodes, which are also the referencing nodes, trains on them,
    and predicts the others. All variances of a repeat share its split, frequencies and orders.

    Parameters
    ----------
    data : GraphDataset, or {array-like, sparse matrix} of shape (n, n)
        A graph. Values are scaled to [0, 1] over all nodes, as in the paper.
    y : array-like of shape (n,), optional
        Values of the nodes, if ``data`` is a matrix.
    sigma2 : sequence of floats, optional
        Variances, rising. By default 40 on a logarithmic scale that cover the four ranges of the
        first repeat and a factor of 4 on both sides.
    n_repeats : int, default=10
        R.
    fraction : float, default=0.4
        Part of the nodes that is sampled.
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
        Worker processes of joblib, each with its share of the cores; -1 is one for each core. By
        default what ``joblib.parallel_config`` says, or this process, with threads on all cores.
    checkpoint : path-like, optional
        File of results, JSON lines. Each repeat is appended when it is done; the same call goes on
        where it was stopped, and may ask for more repeats.
    progress : callable, optional
        Called with a word, the number of repeats done and ``n_repeats``.

    Returns
    -------
    SweepResult

    Notes
    -----
    Repeat r draws its split, then a seed s, from ``numpy.random.default_rng([random_state, r])``.
    Its GNMSE at a variance is that of ``SKGRegressor(sigma2=..., random_state=s)``. Results do not
    depend on ``n_jobs`` or on what has been stopped and resumed.

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
    dataset = _as_dataset(data, y)
    check_count("n_repeats", n_repeats)
    _check_seed(random_state)
    _check_fraction(fraction)
    _check_jobs(n_jobs)
    adjacency = dataset.adjacency
    sweep = Sweep(
        adjacency.indptr,
        adjacency.indices,
        adjacency.data,
        _scaled(dataset),
        np.empty(0),
        fraction,
        check_count("n_frequencies", n_frequencies),
        check_learning_rate(learning_rate),
        check_count("n_epochs", n_epochs),
        get_kernel(kernel).name,
        int(random_state),
    )
    _check_splits(sweep, n_repeats)
    sweep = sweep._replace(sigma2=_default_grid(sweep) if sigma2 is None else _checked_grid(sigma2))
    settings = _settings(sweep, dataset, n_repeats)
    done: dict[int, Repeat] = {}
    file = None if checkpoint is None else Checkpoint(checkpoint, settings)
    if file is not None:
        done |= file.done
    todo = [repeat for repeat in range(n_repeats) if repeat not in done]
    report = progress or _silent
    report("sweeping", len(done), n_repeats)
    for repeat in _run(sweep, todo, n_jobs):
        done[repeat.number] = repeat
        if file is not None:
            file.add(repeat)
        report("sweeping", len(done), n_repeats)
    if file is not None:
        file.finish()
    return SweepResult.from_repeats(settings, list(done.values()))


def _run(sweep: Sweep, todo: list[int], n_jobs: int | None) -> Any:
    """Yield repeats as they are done, by whatever joblib is configured to use."""
    if not todo:
        return iter(())
    backend, _ = get_active_backend()
    # A backend that tells its workers how many threads are theirs is obeyed (features.threads);
    # other workers are as many as the cores that they may use.
    threads = effective_n_jobs(n_jobs) == 1 or backend.supports_inner_max_num_threads
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    return parallel(delayed(run_repeat)(sweep, repeat, threads=threads) for repeat in todo)


def _silent(stage: str, done: int, total: int) -> None:
    pass


def _as_dataset(data: Any, y: ArrayLike | None) -> GraphDataset:
    if isinstance(data, GraphDataset):
        if y is not None:
            raise ValueError("y must be None if data is a GraphDataset, which has values")
        return data
    if y is None:
        raise ValueError(
            "y is None, but values are needed: give a GraphDataset, or a square matrix and y"
        )
    try:
        shape = data.shape if issparse(data) else np.shape(data)
    except ValueError:  # rows of different lengths
        shape = ()
    if len(shape) != 2:
        raise ValueError(
            f"data must be a GraphDataset or a square matrix, got {type(data).__name__}"
        )
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold one number a node, got {_shortened(y)}") from error
    if np.isnan(values).any():
        raise ValueError(
            "y holds NaN, but a sweep needs the value of every node: leave nodes without a value "
            "out, data[known][:, known] and y[known]"
        )
    names = tuple(map(str, range(values.shape[0] if values.ndim else 0)))
    return GraphDataset(data, values, names, name="data")


def _scaled(dataset: GraphDataset) -> NDArray[np.float64]:
    values = dataset.scaled_values()
    if not values.any():
        raise ValueError(
            f"the values of all {dataset.n_nodes} nodes are {dataset.values[0]:g}: there is "
            "nothing to predict"
        )
    return values


def _check_seed(random_state: Any) -> None:
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not whole or random_state < 0:
        raise ValueError(f"random_state must be an integer of at least 0, got {random_state!r}")


def _check_fraction(fraction: Any) -> None:
    if not isinstance(fraction, Real) or not 0.0 < float(fraction) < 1.0:
        raise ValueError(f"fraction must be between 0 and 1, both excluded; got {fraction!r}")


def _check_jobs(n_jobs: Any) -> None:
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")


def _check_splits(sweep: Sweep, n_repeats: int) -> None:
    """Refuse before any work what would fail in a late repeat."""
    for repeat in range(n_repeats):
        draw = draw_repeat(sweep.values.size, sweep.fraction, sweep.random_state, repeat)
        if not sweep.values[draw.tested].any():
            raise ValueError(
                f"in repeat {repeat} all {draw.tested.size} tested nodes have the smallest value, "
                "so GNMSE would divide by 0: lower fraction, or take another random_state"
            )


def _checked_grid(sigma2: Any) -> NDArray[np.float64]:
    try:
        grid = np.asarray(sigma2, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or grid.size == 0:
        raise ValueError(f"sigma2 must be a sequence of numbers, got {_shortened(sigma2)}")
    if not (np.isfinite(grid).all() and grid[0] > 0.0 and np.all(np.diff(grid) > 0.0)):
        raise ValueError(f"sigma2 must be positive and rising, got {grid.tolist()}")
    return grid


def _default_grid(sweep: Sweep) -> NDArray[np.float64]:
    sampled = draw_repeat(sweep.values.size, sweep.fraction, sweep.random_state, 0).sampled
    boundaries, _ = range_boundaries(
        sweep.adjacency[:, sampled][sampled], n_frequencies=sweep.n_frequencies, kernel=sweep.kernel
    )
    if np.isnan(boundaries).any():
        raise ValueError(
            "the sampled nodes of the first repeat all have the same edges, so there are no ranges "
            "to place a grid by: give sigma2, or raise fraction"
        )
    return np.geomspace(boundaries[0] / _BEYOND, boundaries[2] * _BEYOND, _N_VARIANCES)


def _settings(sweep: Sweep, dataset: GraphDataset, n_repeats: int) -> dict[str, Any]:
    return {
        "data": {
            "name": dataset.name,
            "nodes": dataset.n_nodes,
            "edges": dataset.n_edges,
            "sha256_adjacency": _checksum(
                np.asarray(sweep.indptr, np.int64),
                np.asarray(sweep.indices, np.int64),
                sweep.weights,
            ),
            "sha256_values": _checksum(dataset.values),
        },
        "sigma2": sweep.sigma2.tolist(),
        "n_repeats": int(n_repeats),
        "fraction": float(sweep.fraction),
        "n_frequencies": sweep.n_frequencies,
        "learning_rate": sweep.learning_rate,
        "n_epochs": sweep.n_epochs,
        "kernel": sweep.kernel,
        "random_state": sweep.random_state,
        "versions": versions(),
    }


def _shortened(argument: Any) -> str:
    text = repr(argument)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _checksum(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()
