"""Counter-based random frequencies: the same numbers on every machine, in any order.

A draw is a function of (seed, identity of the referencing node, position k), never of
earlier draws. So a reference set can grow, rows can be drawn by any thread,
and a model file needs only the seed. Only IEEE operations that round the same way
everywhere are used (no libm, no fused or reordered arithmetic), and results are
rounded to float32, the type the table of frequencies is kept in.

Positions are made in blocks of 2 x 64 from 64 hashes: the high half of a hash gives one
uniform number and the low half another. The first k frequencies of a node are therefore
the same whatever the number of frequencies.
"""

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.jit import compile_loop

# Codes of the distributions, see draw_rows.
NORMAL, CAUCHY, LAPLACE = 0, 1, 2

_HALF = 64  # hashes in a block; short enough for the first-level cache, long enough for vectors
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE_BITS = np.int64(0x3FF0000000000000)  # the bits of 1.0
_ROOT_BITS = np.int64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
_MAGIC_BITS = np.int64(0x4338000000000000)  # the bits of 1.5 * 2**52: adds a small integer exactly
_MAGIC = 6755399441055744.0
_LOW = np.uint64(0xFFFFFFFF)


@compile_loop
def _mix(z: np.uint64) -> np.uint64:
    # The finaliser of SplitMix64: a bijection of 64-bit words; its stream passes BigCrush.
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@compile_loop
def _draw_uniforms(
    key: np.uint64, start: int, high: NDArray[np.float64], low: NDArray[np.float64]
) -> None:
    """Two independent uniform numbers per hash, on the 2**32 midpoints inside (0, 1)."""
    for i in range(_HALF):
        h = _mix(key + np.uint64(start + i + 1) * _GOLDEN)
        top = np.int64((h >> np.uint64(32)) << np.uint64(20))
        bottom = np.int64((h & _LOW) << np.uint64(20))
        high[i] = (np.int64(top | _ONE_BITS).view(np.float64) - 1.0) + 2.0**-33
        low[i] = (np.int64(bottom | _ONE_BITS).view(np.float64) - 1.0) + 2.0**-33


@compile_loop
def _compute_logarithms(u: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Natural logarithms of numbers in (0, 1], by the polynomial of fdlibm."""
    for i in range(_HALF):
        bits = np.float64(u[i]).view(np.int64)
        # u = 2**k m with m in [sqrt(1/2), sqrt(2))
        k = ((bits + (_ONE_BITS - _ROOT_BITS)) >> np.int64(52)) - np.int64(1023)
        m = np.int64(bits - (k << np.int64(52))).view(np.float64)
        e = np.int64(k + _MAGIC_BITS).view(np.float64) - _MAGIC
        f = m - 1.0
        s = f / (2.0 + f)
        z = s * s
        w = z * z
        p = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332))
        q = 0.1818357216161805012 + w * 0.1479819860511658591
        q = z * (0.6666666666666735130 + w * (0.2857142874366239149 + w * q))
        h = 0.5 * f * f
        tail = s * (h + p + q) + e * 1.90821492927058770002e-10
        out[i] = e * 0.693147180369123816490 - ((h - tail) - f)


@compile_loop
def _compute_turns(
    turn: NDArray[np.float64], sine: NDArray[np.float64], cosine: NDArray[np.float64]
) -> None:
    """Sine and cosine of 2π·turn for turn in (0, 1), by the polynomials of fdlibm."""
    for i in range(_HALF):
        quarter = np.floor(turn[i] * 4.0 + 0.5)
        r = (turn[i] - quarter * 0.25) * 6.283185307179586  # an exact difference, |r| <= π/4
        z = r * r
        p = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
        p = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * p)
        p = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * p)
        s = r + r * z * p
        q = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
        q = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * q)
        q = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * q)
        c = (1.0 - 0.5 * z) + z * z * q
        swap = (quarter == 1.0) | (quarter == 3.0)
        a = c if swap else s
        b = s if swap else c
        sine[i] = -a if (quarter == 2.0) | (quarter == 3.0) else a
        cosine[i] = -b if (quarter == 1.0) | (quarter == 2.0) else b


@compile_loop
def _make_normal(u: NDArray[np.float64], v: NDArray[np.float64], work: NDArray[np.float64]) -> None:
    # Box-Muller: radius from u, angle from v.
    sine, cosine, log = work[0], work[1], work[2]
    _compute_logarithms(u, log)
    _compute_turns(v, sine, cosine)
    for i in range(_HALF):
        radius = np.sqrt(-2.0 * log[i])
        u[i] = radius * cosine[i]
        v[i] = radius * sine[i]


@compile_loop
def _make_cauchy(u: NDArray[np.float64], work: NDArray[np.float64]) -> None:
    # The tangent of a uniform angle; midpoints keep the cosine away from 0.
    sine, cosine = work[0], work[1]
    _compute_turns(u, sine, cosine)
    for i in range(_HALF):
        u[i] = sine[i] / cosine[i]


@compile_loop
def _make_laplace(u: NDArray[np.float64], work: NDArray[np.float64]) -> None:
    # The inverse of the distribution function: ±log(1 - 2|u - 1/2|).
    log, distance = work[0], work[1]
    for i in range(_HALF):
        distance[i] = 1.0 - 2.0 * abs(u[i] - 0.5)
    _compute_logarithms(distance, log)
    for i in range(_HALF):
        u[i] = log[i] if u[i] < 0.5 else -log[i]


@compile_loop
def draw_rows(
    seed: np.uint64,
    identities: NDArray[np.uint64],
    rows: NDArray[np.int64],
    distribution: int,
    table: NDArray[np.float32],
) -> None:
    """Fill ``table[r]`` with unit draws of the node ``identities[r]``, for each r of ``rows``.

    Parameters
    ----------
    seed : uint64
        Seed of the model.
    identities : array of shape (n_references,)
        Identity of each referencing node.
    rows : array of int64
        Which rows to fill.
    distribution : {NORMAL, CAUCHY, LAPLACE}
        Standard normal, standard Cauchy or Laplace with scale 1.
    table : float32 array of shape (n_references, n_frequencies)
        Where to write.
    """
    u = np.empty(_HALF)
    v = np.empty(_HALF)
    work = np.empty((3, _HALF))
    n_frequencies = table.shape[1]
    # The seed is mixed twice and the identity once: otherwise node 7 of seed 3 would share the
    # draws of node 3 of seed 7, and all nodes whose name is their seed would share theirs.
    scrambled_seed = _mix(_mix(seed + _GOLDEN))
    for r in rows:
        key = _mix(_mix(identities[r] + _GOLDEN) ^ scrambled_seed)
        out = table[r]
        for start in range(0, n_frequencies, 2 * _HALF):
            _draw_uniforms(key, start // 2, u, v)
            if distribution == NORMAL:
                _make_normal(u, v, work)
            elif distribution == CAUCHY:
                _make_cauchy(u, work)
                _make_cauchy(v, work)
            else:
                _make_laplace(u, work)
                _make_laplace(v, work)
            n_first = min(_HALF, n_frequencies - start)
            n_second = min(_HALF, n_frequencies - start - n_first)
            for i in range(n_first):
                out[start + i] = np.float32(u[i])
            for i in range(n_second):
                out[start + _HALF + i] = np.float32(v[i])


@compile_loop
def mark_used(indices: NDArray[np.int32], used: NDArray[np.bool_]) -> bool:
    """Set ``used[c]`` for every column c that occurs; return whether all are columns of the table.

    The other loops, which do not check bounds, rely on it.
    """
    for c in indices:
        if not 0 <= c < used.size:
            return False
        used[c] = True
    return True
