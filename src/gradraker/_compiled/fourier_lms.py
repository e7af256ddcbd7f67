"""Fourier features of rows and least mean squares on them: project, sin and cos, predict, update.

Shapes: n rows, M referencing nodes, D frequencies, K targets. ``table`` holds unit
frequencies (M, D) as float32; features at variance σ² use ``scale`` = 1/σ. Every row
is computed by the same operations in the same order, so results do not depend on chunks
or threads.

All these loops call :func:`compute_sincos` and are in one file, since Numba's disk cache does not
notice changes in other files: a caller in another file would keep running the old code.
"""

import math

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.jit import compile_loop
from gradraker._compiled.prefetch import prefetch

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]
# Sums may be reordered (vectors), products and sums fused; NaN and infinity keep their rules.
_REORDERED = {"reassoc", "contract", "nsz"}
# Up to here n·(first part of π/2) is exact (33 + 20 bits), so the reduction below is accurate.
_LARGEST_ARGUMENT = 1.0e6
_LINE = 16  # float32 numbers in a cache line
_TILE = 4 * _LINE  # frequencies that are summed between two prefetches
_FIRST_NUMBERS = 128  # float64 numbers of a row that are prefetched


@compile_loop
def _find_position_ahead(k: int, stop: int, ahead: int, last: int) -> int:
    # Neighbours are read to the end of this row, then on in the row at `ahead`.
    return min(k if k < stop else ahead + (k - stop), last)


@compile_loop
def _project(
    indices: Int32, data: Floats, start: int, stop: int, ahead: int, table: Float32, out: Floats
) -> None:
    """Sum of ``data[k] * table[indices[k]]`` for k in [start, stop), in that order.

    ``ahead`` is where the row that will be projected next starts: its frequencies are prefetched
    while this row is summed, because a large table does not fit in the caches.
    """
    n_frequencies, last, k = out.size, indices.size - 1, start
    out[:] = 0.0
    # Four rows at a time halve the traffic to `out`; the order of additions stays.
    while k + 4 <= stop:
        a, b, c, d = data[k], data[k + 1], data[k + 2], data[k + 3]
        row_a, row_b = table[indices[k]], table[indices[k + 1]]
        row_c, row_d = table[indices[k + 2]], table[indices[k + 3]]
        next_a = indices[_find_position_ahead(k + 4, stop, ahead, last)]
        next_b = indices[_find_position_ahead(k + 5, stop, ahead, last)]
        next_c = indices[_find_position_ahead(k + 6, stop, ahead, last)]
        next_d = indices[_find_position_ahead(k + 7, stop, ahead, last)]
        for tile in range(0, n_frequencies, _TILE):
            for j in range(tile, min(tile + _TILE, n_frequencies), _LINE):
                prefetch(table, next_a, j)
                prefetch(table, next_b, j)
                prefetch(table, next_c, j)
                prefetch(table, next_d, j)
            sums, end = out[tile : tile + _TILE], tile + _TILE
            part_a, part_b = row_a[tile:end], row_b[tile:end]
            part_c, part_d = row_c[tile:end], row_d[tile:end]
            for j in range(sums.size):
                total = (sums[j] + a * part_a[j]) + b * part_b[j]
                sums[j] = (total + c * part_c[j]) + d * part_d[j]
        k += 4
    while k < stop:
        a, row_a = data[k], table[indices[k]]
        for j in range(n_frequencies):
            out[j] += a * row_a[j]
        k += 1


@compile_loop
def compute_sincos(x: Floats, scale: float, amplitude: float, sine: Floats, cosine: Floats) -> None:
    """``amplitude`` times sin and cos of ``scale * x``, to about one ulp.

    Cody-Waite reduction by π/2 in three parts and the polynomials of fdlibm, in a form that
    compiles to vector instructions; arguments beyond 10⁶ go through the C library.
    """
    n_large = 0
    for j in range(x.size):
        angle = x[j] * scale
        n_large += 0 if abs(angle) <= _LARGEST_ARGUMENT else 1  # counts NaN as well
        n = np.floor(angle * 0.636619772367581382433 + 0.5)
        r = (angle - n * 1.57079632673412561417e00) - n * 6.07710050630396597660e-11
        r -= n * 2.02226624879595063154e-21
        z = r * r
        p = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
        p = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * p)
        p = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * p)
        s = r + r * z * p
        q = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
        q = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * q)
        q = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * q)
        c = (1.0 - 0.5 * z) + z * z * q
        quadrant = n - 4.0 * np.floor(n * 0.25)
        swap = (quadrant == 1.0) | (quadrant == 3.0)
        a = c if swap else s
        b = s if swap else c
        sine[j] = a * (-amplitude if quadrant >= 2.0 else amplitude)
        cosine[j] = b * (-amplitude if (quadrant == 1.0) | (quadrant == 2.0) else amplitude)
    if n_large > 0:
        for j in range(x.size):
            angle = x[j] * scale
            if not abs(angle) <= _LARGEST_ARGUMENT:
                finite = math.isfinite(angle)
                sine[j] = amplitude * math.sin(angle) if finite else np.nan
                cosine[j] = amplitude * math.cos(angle) if finite else np.nan


@compile_loop
def _fill_features(projection: Floats, scale: float, features: Floats) -> None:
    """Equation (1) of one row from its projection: ``[sin(ξᵀa), cos(ξᵀa)] / √D``."""
    D = projection.size
    compute_sincos(projection, scale, 1.0 / math.sqrt(D), features[:D], features[D:])


@compile_loop(fastmath=_REORDERED)
def _sum_products(a: Floats, b: Floats) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@compile_loop
def compute_feature_rows(
    indptr: Int64,
    indices: Int32,
    data: Floats,
    rows: Int64,
    table: Float32,
    scale: float,
    out: Floats,
) -> None:
    """Equation (1): ``out[i] = [sin(ξᵀa), cos(ξᵀa)] / √D`` for row ``rows[i]`` of the matrix."""
    projection = np.empty(table.shape[1])
    for i in range(rows.size):
        start, stop = indptr[rows[i]], indptr[rows[i] + 1]
        ahead = indptr[rows[min(i + 1, rows.size - 1)]]
        _project(indices, data, start, stop, ahead, table, projection)
        _fill_features(projection, scale, out[i])


@compile_loop
def predict_rows(
    indptr: Int64,
    indices: Int32,
    data: Floats,
    start: int,
    stop: int,
    table: Float32,
    scale: float,
    theta: Floats,
    features: Floats,
    out: Floats,
) -> None:
    """Equation (2): ``out[i] = theta @ z(row i)`` for rows [start, stop); features are not kept.

    ``theta`` has shape (K, 2D). ``features`` is work space (2D,) whose dtype is that of z.
    """
    projection = np.empty(table.shape[1])
    for i in range(start, stop):
        _project(indices, data, indptr[i], indptr[i + 1], indptr[i + 1], table, projection)
        _fill_features(projection, scale, features)
        for k in range(theta.shape[0]):
            out[i, k] = _sum_products(theta[k], features)


@compile_loop
def _add(theta: Floats, factor: float, features: Floats) -> None:
    for j in range(theta.size):
        theta[j] += factor * features[j]


@compile_loop
def run_lms_pass(Z: Floats, rows: Int64, Y: Floats, step: float, theta: Floats) -> None:
    """Train on rows of Z in the order ``rows``: θ ← θ + step (y − θᵀz) z, step = 2η.

    ``Z`` is (n, 2D), ``Y`` is (n, K), ``theta`` is (K, 2D) and changed in place.
    """
    for i in rows:
        for k in range(theta.shape[0]):
            _add(theta[k], step * (Y[i, k] - _sum_products(theta[k], Z[i])), Z[i])


@compile_loop
def _compute_features_of_one(indices: Int32, data: Floats, table: Float32, scale: float) -> Floats:
    """Equation (1) for one node with neighbours ``indices`` and weights ``data``."""
    projection, features = np.empty(table.shape[1]), np.empty(2 * table.shape[1])
    first = min(0, indices.size)  # a literal 0 would have _project compiled a second time
    _project(indices, data, first, indices.size, first, table, projection)
    _fill_features(projection, scale, features)
    return features


@compile_loop
def predict_value(
    indices: Int32, data: Floats, table: Float32, scale: float, theta: Floats
) -> float:
    """Equation (2) for one node and one target; returning a number is faster than an array."""
    return _sum_products(theta, _compute_features_of_one(indices, data, table, scale))


@compile_loop
def learn_value(
    indices: Int32,
    data: Floats,
    table: Float32,
    scale: float,
    step: float,
    value: float,
    theta: Floats,
) -> float:
    """:func:`learn_one` for a single target: the prediction, or NaN if the step was not taken."""
    features = _compute_features_of_one(indices, data, table, scale)
    prediction = _sum_products(theta, features)
    factor = step * (value - prediction)
    if not math.isfinite(factor):
        return np.nan
    _add(theta, factor, features)
    return prediction


@compile_loop
def learn_one(
    indices: Int32,
    data: Floats,
    table: Float32,
    scale: float,
    step: float,
    values: Floats,
    theta: Floats,
    out: Floats,
) -> bool:
    """One step of training; ``out`` gets the predictions made before it.

    Returns whether the step was taken: it is not if a prediction or a step is not finite.
    """
    features = _compute_features_of_one(indices, data, table, scale)
    for k in range(theta.shape[0]):
        out[k] = _sum_products(theta[k], features)
        if not math.isfinite(step * (values[k] - out[k])):
            return False
    for k in range(theta.shape[0]):
        _add(theta[k], step * (values[k] - out[k]), features)
    return True


@compile_loop
def project_rows(
    indptr: Int64, indices: Int32, data: Floats, start: int, stop: int, table: Float32, out: Floats
) -> None:
    """Projections ``out[i] = row i of X @ table`` for rows [start, stop), before any scaling."""
    for i in range(start, stop):
        _project(indices, data, indptr[i], indptr[i + 1], indptr[i + 1], table, out[i])


@compile_loop
def compute_scaled_features(P: Floats, scale: float, Z: Floats) -> None:
    """Equation (1) from projections P (n, D): one projection serves all variances."""
    for i in range(P.shape[0]):
        _fill_features(P[i], scale, Z[i])


@compile_loop
def predict_member_rows(
    P: Floats, scale: float, theta: Floats, features: Floats, out: Floats
) -> None:
    """:func:`predict_rows` from projections P (n, D), which all variances share."""
    for i in range(P.shape[0]):
        _fill_features(P[i], scale, features)
        for k in range(theta.shape[0]):
            out[i, k] = _sum_products(theta[k], features)


@compile_loop
def run_member_pass(
    P: Floats,
    rows: Int64,
    scale: float,
    Y: Floats,
    step: float,
    keep: float,
    theta: Floats,
    Z: Floats,
    out: Floats,
    norms: Floats,
) -> None:
    """:func:`run_lms_pass` of a bank's member on projections P (n, D): θ ← keep θ + step (y − f) z.

    ``Z`` is work space of shape (1, 2D), or (n, 2D) to keep the features of rows that come back;
    the first n of ``rows`` (T,) then hold each row once. ``out`` (T, K) gets the predictions
    f = θᵀz before each step, and ``norms`` (T,) gets ‖θ‖² before it where keep is not 1.
    """
    n, n_frequencies = P.shape
    kept = Z.shape[0] > 1
    for t in range(rows.size):
        i = rows[t]
        z = Z[i if kept else 0]
        # Only the start of the next row: from there the processor prefetches by itself.
        next_row = rows[min(t + 1, rows.size - 1)]
        for j in range(0, min(n_frequencies, _FIRST_NUMBERS), _LINE // 2):
            if kept and t + 1 >= n:
                prefetch(Z, next_row, j)
            else:
                prefetch(P, next_row, j)
        if t < n or not kept:
            _fill_features(P[i], scale, z)
        norms[t] = 0.0
        for k in range(theta.shape[0]):
            out[t, k] = _sum_products(theta[k], z)
            if keep != 1.0:
                norms[t] += _sum_products(theta[k], theta[k])
                for j in range(theta.shape[1]):
                    theta[k, j] *= keep
            _add(theta[k], step * (Y[i, k] - out[t, k]), z)


@compile_loop
def run_held_out_pass(
    P: Floats,
    scale: float,
    orders: Int64,
    order_ends: Int64,
    held_out: Int64,
    held_out_ends: Int64,
    Y: Floats,
    step: float,
    out: Floats,
) -> None:
    """Train several models at one variance on projections P (n, D), and predict held-out rows.

    Model m trains on rows ``orders[order_ends[m - 1] : order_ends[m]]`` in that order and
    predicts rows ``held_out[held_out_ends[m - 1] : held_out_ends[m]]`` into ``out`` (n, K). All
    share the features, so a variance is cheap to try.
    """
    Z = np.empty((P.shape[0], 2 * P.shape[1]))
    compute_scaled_features(P, scale, Z)
    theta = np.empty((Y.shape[1], Z.shape[1]))
    start, first = 0, 0
    for m in range(order_ends.size):
        theta[:] = 0.0
        run_lms_pass(Z, orders[start : order_ends[m]], Y, step, theta)
        for t in range(first, held_out_ends[m]):
            for k in range(theta.shape[0]):
                out[held_out[t], k] = _sum_products(theta[k], Z[held_out[t]])
        start, first = order_ends[m], held_out_ends[m]


@compile_loop
def train_sweep(
    P: Floats,
    scales: Floats,
    start: int,
    stop: int,
    rows: Int64,
    values: Floats,
    step: float,
    theta: Floats,
) -> None:
    """Continue to train ``theta[s]`` (S, 2D) for the variances [start, stop) of a sweep.

    Step t is on row ``rows[t]`` of the projections P with ``values[t]``. Features of a row are
    computed once, however often the steps come back to it.
    """
    Z = np.empty((P.shape[0], 2 * P.shape[1]))
    for s in range(start, stop):
        compute_scaled_features(P, scales[s], Z)
        for t in range(rows.size):
            z = Z[rows[t]]
            _add(theta[s], step * (values[t] - _sum_products(theta[s], z)), z)


@compile_loop
def add_sweep_errors(
    P: Floats,
    scales: Floats,
    start: int,
    stop: int,
    rows: Int64,
    values: Floats,
    theta: Floats,
    out: Floats,
) -> None:
    """Add to ``out[s]`` the squared errors of ``theta[s]`` on ``values`` of ``rows`` of P."""
    z, predictions = np.empty(2 * P.shape[1]), np.empty(P.shape[0])
    for s in range(start, stop):
        for i in range(P.shape[0]):
            _fill_features(P[i], scales[s], z)
            predictions[i] = _sum_products(theta[s], z)
        for t in range(rows.size):
            error = values[t] - predictions[rows[t]]
            out[s] += error * error
