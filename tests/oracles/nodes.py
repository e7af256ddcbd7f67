"""Node models written from their equations: dense matrices, loops, refits."""

from typing import Any

import numpy as np
from scipy.optimize import root


def links(A: Any, direction: Any = "both", hidden: Any = ()) -> Any:
    """|A| + |A|ᵀ, |A| or |A|ᵀ; no edge leads to a hidden node, except its loop."""
    B = {"both": abs(A) + abs(A).T, "out": abs(A), "in": abs(A).T}[direction].copy()
    for i in range(len(A)):
        for j in hidden:
            if i != j:
                B[i, j] = 0.0
    return B


def scaled(W: Any) -> Any:
    """Rows scaled to sum 1, empty rows kept."""
    return np.array([row / row.sum() if row.sum() > 0.0 else row for row in W])


def walk(A: Any, direction: Any = "both", hidden: Any = ()) -> Any:
    """P: the walk with a loop of weight 1 at each node but hidden ones that have links."""
    L = links(A, direction, hidden)
    loops = np.eye(len(A))
    for j in hidden:
        if L[j].any():
            loops[j, j] = 0.0
    return scaled(L + loops)


def pagerank(T: Any, damping: Any, n_steps: Any) -> Any:
    """R ← (1 − c) I + c T R."""
    R = np.eye(len(T))
    for _ in range(n_steps):
        R = (1.0 - damping) * np.eye(len(T)) + damping * T @ R
    return R


def less_mean(rows: Any, n_old: Any) -> Any:
    """Rows less the mean of the old ones."""
    return rows - rows[:n_old].mean(axis=0)


def chebyshev(P: Any, degree: Any, ratio: Any) -> Any:
    """T_p(P/c) / T_p(1/c) with T_p(1/c) = ratio, by T_{j+1}(x) = 2 x T_j(x) − T_{j−1}(x)."""
    c = 1.0 / np.cosh(np.arccosh(ratio) / degree)
    before, now = np.eye(len(P)), P / c
    for _ in range(degree - 1):
        before, now = now, 2.0 / c * P @ now - before
    return now / ratio


def reach(A: Any, block: Any, direction: Any = "both", hidden: Any = (), n_old: Any = None) -> Any:
    """Where walks end, by the table of reaches."""
    P, W = walk(A, direction, hidden), scaled(links(A, direction, hidden))
    out, into = scaled(links(A, "out", hidden)), scaled(links(A, "in", hidden))
    if block.startswith("hop"):
        return np.linalg.matrix_power(P, int(block[3:]))
    return {
        "community": lambda: less_mean(np.linalg.matrix_power(P, 8), n_old),
        "pagerank": lambda: pagerank(P, 0.95, 15),
        "far": lambda: pagerank(P, 0.99, 40),
        "wide": lambda: chebyshev(P, 31, 2000.0),
        "alternating": lambda: pagerank(-W, 0.95, 15),
        "same_targets": lambda: pagerank(out @ into, 0.95, 8),
        "same_sources": lambda: pagerank(into @ out, 0.95, 8),
    }[block]()


def degrees(A: Any, direction: Any = "both") -> Any:
    """Standardised logarithms of degrees: all, out, in, mean of the neighbours'."""
    n = len(A)
    B = abs(A)
    L = links(A, direction)
    out = B.sum(axis=1) if direction != "in" else np.zeros(n)
    into = B.sum(axis=0) if direction != "out" else np.zeros(n)
    own = np.log(1.0 + out + into)
    mean = np.array([L[i] @ own / L[i].sum() if L[i].any() else 0.0 for i in range(n)])
    X = np.column_stack([own, np.log(1.0 + out), np.log(1.0 + into), mean])
    spread = X.std(axis=0)
    return np.where(spread > 1e-9, (X - X.mean(axis=0)) / np.where(spread > 1e-9, spread, 1), 0.0)


def block_rows(
    A: Any, block: Any, direction: Any = "both", hidden: Any = (), n_old: Any = None
) -> Any:
    """The row of each node in a block."""
    if block == "degree":
        return degrees(A, direction)
    rows = reach(A, block, direction, hidden, n_old)
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


def squared_distances(X: Any) -> Any:
    """‖x_i − x_j‖²."""
    return ((X[:, np.newaxis, :] - X) ** 2).sum(axis=2)


def median(d2: Any) -> Any:
    """Median over pairs, of the positive ones if half of them are 0."""
    pairs = d2[np.triu_indices(len(d2), 1)]
    positive = pairs[pairs > 1e-12]
    if len(positive) == 0:
        return 0.0
    return np.median(pairs) if 2 * len(positive) > len(pairs) else np.median(positive)


def kernel(A: Any, blocks: Any, width: Any, direction: Any = "both") -> Any:
    """Mean over blocks of exp(−d² / (2 w median))."""
    K = np.zeros(A.shape)
    for block in blocks:
        d2 = squared_distances(block_rows(A, block, direction))
        m = median(d2)
        K += np.exp(-d2 / (2.0 * width * m)) if m > 0.0 else 1.0
    return K / len(blocks)


def ridge(K_known: Any, K_asked: Any, y: Any, alpha: Any) -> Any:
    """Minimise ‖y − μ − K c‖² + α cᵀKc by its normal equations; predictions μ + K_asked c."""
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K_known + alpha * np.eye(n)
    system[:n, n] = 1.0
    system[n, :n] = 1.0  # Σ c = 0: the derivative by μ
    solution = np.linalg.solve(system, np.append(y, 0.0))
    return solution[n] + K_asked @ solution[:n]


def left_out_predictions(K_known: Any, K_asked: Any, y: Any, alpha: Any) -> Any:
    """Refit without each known node: predictions (asked, N), and of itself (N,)."""
    n = len(y)
    asked, own = np.empty((len(K_asked), n)), np.empty(n)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        K = K_known[np.ix_(rest, rest)]
        asked[:, i] = ridge(K, K_asked[:, rest], y[rest], alpha)
        own[i] = ridge(K, K_known[[i]][:, rest], y[rest], alpha)[0]
    return asked, own


def recursive_least_squares(Z: Any, y: Any, alpha: Any, intercept_variance: Any = 1e12) -> Any:
    """One node at a time from the covariance I/α; the intercept starts almost free."""
    F = Z.shape[1]
    C = np.eye(F + 1) / alpha
    C[F, F] = intercept_variance
    theta = np.zeros(F + 1)
    for z, value in zip(Z, y, strict=True):
        z1 = np.append(z, 1.0)
        gain = C @ z1 / (1.0 + z1 @ C @ z1)
        theta = theta + gain * (value - z1 @ theta)
        C = C - np.outer(gain, z1 @ C)
    return theta


def process_spread(K_known: Any, k: Any, alpha: Any) -> Any:
    """Standard deviation of a value that follows a Gaussian process with an unknown mean.

    The variance is 1 + α − kᵀH⁻¹k + (1 − hᵀk)²/c with H = K + αI, h = H⁻¹1 and c = 1ᵀh.
    """
    H = np.linalg.inv(K_known + alpha * np.eye(len(k)))
    h = H @ np.ones(len(k))
    return np.sqrt(1.0 + alpha - k @ H @ k + (1.0 - h @ k) ** 2 / h.sum())


def describe_errors(log_spreads: Any, predictions: Any, at: Any) -> Any:
    """Rows (log s − mean, z, z² − 1), with z standardised by the left-out nodes ``at``."""
    mean_log, centre, unit = at
    rows = []
    for log_spread, prediction in zip(log_spreads, predictions, strict=True):
        z = min(2.5, max(-2.5, (prediction - centre) / unit))
        rows.append([log_spread - mean_log, z, z**2 - 1.0])
    return np.array(rows)


def fit_error_parameters(F: Any, errors: Any) -> Any:
    """Parameters of the least N log mean(error / size) + 20 ‖parameters − (1, 0, 0)‖²."""
    F, start = F - F.mean(axis=0), np.array([1.0, 0.0, 0.0])

    def slope(b: Any) -> Any:  # 0 at the minimum, and nowhere else: the loss is convex
        ratios = errors / np.exp(F @ b)
        terms = [ratio * row for ratio, row in zip(ratios, F, strict=True)]
        return 40.0 * (b - start) - len(errors) * np.sum(terms, axis=0) / ratios.sum()

    return root(slope, start, tol=1e-13).x


def intervals(K_known: Any, K_asked: Any, y: Any, alpha: Any, coverage: Any) -> Any:
    """Prediction ± size × the ⌈c (N + 1)⌉-th smallest |left-out error| / its size.

    Sizes for a fifth of the left-out nodes, by rank of their predictions, are fitted to the others.
    """
    n = len(y)
    _, own = left_out_predictions(K_known, K_asked, y, alpha)
    errors, logs = abs(y - own), []
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        logs.append(np.log(process_spread(K_known[np.ix_(rest, rest)], K_known[i, rest], alpha)))
    at = np.mean(logs), own.mean(), max(own.std(), 0.25 * np.sqrt(np.mean(errors**2)))
    F = describe_errors(logs, own, at)
    ratios = np.empty(n)
    for fold in range(5):
        mine = [list(np.argsort(own)).index(i) % 5 == fold for i in range(n)]
        others = ~np.array(mine)
        b = fit_error_parameters(F[others], errors[others])
        sizes = np.exp(F @ b)
        ratios[mine] = (errors / sizes)[mine] / np.mean((errors / sizes)[others])
    b = fit_error_parameters(F, errors)
    ratios *= np.mean(errors / np.exp(F @ b))
    rank = int(np.ceil(coverage * (n + 1) - 1e-9))
    quantile = sorted(ratios)[rank - 1] if rank <= n else np.inf
    predictions = ridge(K_known, K_asked, y, alpha)
    asked = [np.log(process_spread(K_known, k, alpha)) for k in K_asked]
    half = quantile * np.exp(describe_errors(asked, predictions, at) @ b)
    return np.column_stack([predictions - half, predictions + half])


def criterion(K: Any, y: Any, alpha: Any, part: Any = 1.0) -> Any:
    """Mean squared left-out residual, and N/2 log of it plus a part of the REML likelihood."""
    n = len(y)
    _, own = left_out_predictions(K, K[:1], y, alpha)
    loo = np.mean((y - own) ** 2)
    H = np.linalg.inv(K + alpha * np.eye(n))
    one = np.ones(n)
    Q = H - np.outer(H @ one, H @ one) / (one @ H @ one)
    reml = (
        (n - 1) / 2 * np.log(y @ Q @ y / (n - 1))
        + 0.5 * np.linalg.slogdet(K + alpha * np.eye(n))[1]
        + 0.5 * np.log(one @ H @ one)
    )
    return loo, n / 2 * np.log(loo) + part * reml


# -- walk kernels as operators -----------------------------------------------------


def divide_by_roots(E: Any, rows: Any, columns: Any) -> Any:
    """E_ij / √(rows_i columns_j), 0 where either is 0."""
    T = np.zeros(E.shape)
    for i in range(E.shape[0]):
        for j in range(E.shape[1]):
            if rows[i] > 0.0 and columns[j] > 0.0:
                T[i, j] = E[i, j] / np.sqrt(rows[i] * columns[j])
    return T


def operator_walk(
    A: Any, direction: Any = "both", hidden: Any = (), sign: Any = 1.0, is_lazy: Any = False
) -> Any:
    """T = D_r⁻¹ᐟ² (±E + loops) D_c⁻¹ᐟ²; lazy loops weigh as much as all links, hidden ones 0."""
    E = links(A, direction, hidden)
    loops = np.eye(len(A))
    for j in np.flatnonzero(E.any(axis=1)).tolist():
        loops[j, j] = 0.0 if j in hidden else E[j].sum() if is_lazy else 1.0
    total = E + loops
    return divide_by_roots(sign * E + loops, total.sum(axis=1), total.sum(axis=0))


def measure_common(A: Any, direction: Any = "both", hidden: Any = ()) -> Any:
    """u and v: roots of the sums of rows and columns in the largest component, of length 1."""
    E = links(A, direction, hidden)
    loops = np.array([0.0 if j in hidden and E[j].any() else 1.0 for j in range(len(A))])
    reached = np.linalg.matrix_power(E + E.T + np.eye(len(A)), len(A)) > 0.0
    largest = reached[reached.sum(axis=1).argmax()]
    sums = [(E.sum(axis=axis) + loops) * largest for axis in (1, 0)]
    return [np.sqrt(some / some.sum()) for some in sums]


def meeting_walk(A: Any, direction: Any, hidden: Any = ()) -> Any:
    """D_r⁻¹ᐟ² E D_c⁻¹ᐟ² without loops."""
    E = links(A, direction, hidden)
    return divide_by_roots(E, E.sum(axis=1), E.sum(axis=0))


def low_pass(x: Any, m: Any) -> Any:
    """T_p(x/c) / T_p(1/c) with p = ⌈2.7 √m⌉, which is 1/2000 at most within ±c: stands for xᵐ."""
    p = int(np.ceil(2.7 * np.sqrt(m)))
    c = 1.0 / np.cosh(np.arccosh(2000.0) / p)
    found = []
    for value in np.atleast_1d(x) / c:
        inside = np.cos(p * np.arccos(np.clip(value, -1.0, 1.0)))
        outside = np.sign(value) ** p * np.cosh(p * np.arccosh(max(1.0, abs(value))))
        found.append((inside if abs(value) <= 1.0 else outside) / 2000.0)
    return np.array(found)


def series_power(T: Any, m: Any) -> Any:
    """The polynomial in place of the power m > 8 of a symmetric matrix."""
    values, U = np.linalg.eigh(T)
    return U @ np.diag(low_pass(values, m)) @ U.T


def chain_rows(T: Any, m: Any) -> Any:
    """Tᵐ, by the low pass where T is symmetric and m is more than 8."""
    if m > 8 and np.allclose(T, T.T, atol=1e-14):
        return series_power(T, m)
    return np.linalg.matrix_power(T, m)


def chain_norms(rows: Any, m: Any, probes: Any = None) -> Any:
    """Squared lengths of rows; for m > 1 their estimate, the mean of (row · probe)²."""
    if m == 1 or probes is None:
        return (rows**2).sum(axis=1)
    return ((rows @ probes) ** 2).mean(axis=1)


def chain_kernel(T: Any, m: Any, probes: Any = None, power: Any = chain_rows) -> Any:
    """N⁻¹ᐟ² Tᵐ (Tᵀ)ᵐ N⁻¹ᐟ²."""
    rows = power(T, m)
    norms = chain_norms(rows, m, probes)
    return divide_by_roots(rows @ rows.T, norms, norms)


def structure(L: Any) -> Any:
    """log(1 + degree), its mean and deviation over neighbours, and the mean of those means."""
    n = len(L)
    own = np.log(1.0 + L.sum(axis=1))
    shares = scaled(L)
    mean = shares @ own
    deviation = [np.sqrt(shares[i] @ (own - mean[i]) ** 2) if L[i].any() else 0.0 for i in range(n)]
    return np.column_stack([own, mean, deviation, shares @ mean])


def degree_columns(A: Any, direction: Any = "both") -> Any:
    """Standardised numbers of structure; with edges out and in where these differ."""
    X = structure(links(A, direction))
    out, into = abs(A).sum(axis=1), abs(A).sum(axis=0)
    if direction == "both" and not np.array_equal(out, into):
        X = np.column_stack([X, np.log(1.0 + out), np.log(1.0 + into)])
    spread = X.std(axis=0)
    return np.where(spread > 0.0, (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), 0.0)


def degree_kernel(A: Any, width: Any, direction: Any = "both") -> Any:
    """The kernel of degrees by the table of operators."""
    return low_rank_kernel(degree_columns(A, direction), width)


def community_rows(T: Any, probes: Any) -> Any:
    """Where walks of 16 steps end, seen through probes, scaled to length 1."""
    ends = np.linalg.matrix_power(T, 16) @ probes
    return ends / np.sqrt((ends**2).sum(axis=1, keepdims=True))


def low_rank_kernel(columns: Any, width: Any) -> Any:
    """exp(−d²/(2 w median)) without eigenvalues below 10⁻⁶ of the largest, diagonal scaled to 1."""
    d2 = squared_distances(columns)
    values, U = np.linalg.eigh(np.exp(-d2 / (2.0 * width * median(d2))))
    K = (U * np.where(values > 1e-6 * values[-1], values, 0.0)) @ U.T
    return divide_by_roots(K, np.diag(K), np.diag(K))


def operator_kernel(
    A: Any,
    block: Any,
    direction: Any = "both",
    hidden: Any = (),
    probes: Any = None,
    width: Any = 4.0,
) -> Any:
    """The kernel of one block by the table of operators."""
    if block == "degree":
        return degree_kernel(A, width, direction)
    if block == "community":
        return low_rank_kernel(community_rows(operator_walk(A, direction, hidden), probes), width)
    if block in ("same_targets", "same_sources"):
        return chain_kernel(meeting_walk(A, "out" if block == "same_targets" else "in", hidden), 1)
    if block.startswith("centred"):
        T = operator_walk(A, direction, hidden) - np.outer(*measure_common(A, direction, hidden))
        return chain_kernel(T, int(block.removeprefix("centred")), probes, np.linalg.matrix_power)
    for name, sign in (("hop", 1.0), ("lazy", 1.0), ("alternating", -1.0)):
        if block.startswith(name):
            T = operator_walk(A, direction, hidden, sign, name == "lazy")
            return chain_kernel(T, int(block.removeprefix(name)), probes)
    raise ValueError(block)


def fixed_mean_ridge(K_known: Any, K_asked: Any, y: Any, alpha: Any) -> Any:
    """ȳ + K_asked (K + αI)⁻¹ (y − ȳ): the mean is that of the known values."""
    mean = y.mean(axis=0)
    return mean + K_asked @ np.linalg.solve(K_known + alpha * np.eye(len(y)), y - mean)


def fixed_mean_weights(K_known: Any, K_asked: Any, alpha: Any) -> Any:
    """Weights of known values: predictions of unit vectors."""
    return fixed_mean_ridge(K_known, K_asked, np.eye(len(K_known)), alpha)


def fixed_mean_left_out(K_known: Any, y: Any, alpha: Any) -> Any:
    """Each node from a refit without it."""
    n = len(y)
    found = np.empty(y.shape)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        K = K_known[np.ix_(rest, rest)]
        found[i] = fixed_mean_ridge(K, K_known[[i]][:, rest], y[rest], alpha)[0]
    return found
