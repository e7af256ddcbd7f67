"""Node models written from their equations: dense matrices, loops, refits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def links(
    A: NDArray[np.float64], direction: str = "both", hidden: list[int] | tuple[Any, ...] = ()
) -> NDArray[np.float64]:
    """|A| + |A|ᵀ, |A| or |A|ᵀ; nobody but itself sees a hidden node."""
    B = {"both": abs(A) + abs(A).T, "out": abs(A), "in": abs(A).T}[direction].copy()
    for i in range(len(A)):
        for j in hidden:
            if i != j:
                B[i, j] = 0.0
    return B


def scaled(W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows scaled to sum 1, empty rows kept."""
    return np.array([row / row.sum() if row.sum() > 0.0 else row for row in W])


def walk(
    A: NDArray[np.float64], direction: str = "both", hidden: list[int] | tuple[Any, ...] = ()
) -> NDArray[np.float64]:
    """P: the walk with a loop of weight 1 at each node but hidden ones that have links."""
    L = links(A, direction, hidden)
    loops = np.eye(len(A))
    for j in hidden:
        if L[j].any():
            loops[j, j] = 0.0
    return scaled(L + loops)


def pagerank(T: NDArray[np.float64], damping: float, n_steps: int) -> NDArray[np.float64]:
    """R ← (1 − c) I + c T R."""
    R = np.eye(len(T))
    for _ in range(n_steps):
        R = (1.0 - damping) * np.eye(len(T)) + damping * T @ R
    return R


def less_mean(rows: NDArray[np.float64], n_old: int | None) -> Any:
    """Rows less the mean of the old ones."""
    return rows - rows[:n_old].mean(axis=0)


def reach(
    A: NDArray[np.float64],
    block: str,
    direction: str = "both",
    hidden: list[int] | tuple[Any, ...] = (),
    n_old: int | None = None,
) -> Any:
    """Where walks end, by the table of reaches."""
    P, W = walk(A, direction, hidden), scaled(links(A, direction, hidden))
    out, into = scaled(links(A, "out", hidden)), scaled(links(A, "in", hidden))
    if block.startswith("hop"):
        return np.linalg.matrix_power(P, int(block[3:]))
    return {  # type: ignore[no-untyped-call]
        "community": lambda: less_mean(np.linalg.matrix_power(P, 8), n_old),
        "pagerank": lambda: pagerank(P, 0.95, 15),
        "far": lambda: pagerank(P, 0.99, 40),
        "alternating": lambda: pagerank(-W, 0.95, 15),
        "same_targets": lambda: pagerank(out @ into, 0.95, 8),
        "same_sources": lambda: pagerank(into @ out, 0.95, 8),
    }[block]()


def degrees(A: NDArray[np.float64], direction: str = "both") -> NDArray[np.float64]:
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
    A: NDArray[np.float64],
    block: str,
    direction: str = "both",
    hidden: Any = (),
    n_old: int | None = None,
) -> Any:
    """The row of each node in a block."""
    if block == "degree":
        return degrees(A, direction)
    rows = reach(A, block, direction, hidden, n_old)
    return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


def squared_distances(X: NDArray[np.float64]) -> Any:
    """‖x_i − x_j‖²."""
    return ((X[:, np.newaxis, :] - X) ** 2).sum(axis=2)


def median(d2: NDArray[np.float64]) -> Any:
    """Median over pairs, of the positive ones if half of them are 0."""
    pairs = d2[np.triu_indices(len(d2), 1)]
    positive = pairs[pairs > 1e-12]
    if len(positive) == 0:
        return 0.0
    return np.median(pairs) if 2 * len(positive) > len(pairs) else np.median(positive)


def kernel(
    A: NDArray[np.float64],
    blocks: list[str] | tuple[Any, ...],
    width: float,
    direction: str = "both",
) -> NDArray[np.float64]:
    """Mean over blocks of exp(−d² / (2 w median))."""
    K = np.zeros(A.shape)
    for block in blocks:
        d2 = squared_distances(block_rows(A, block, direction))
        m = median(d2)
        K += np.exp(-d2 / (2.0 * width * m)) if m > 0.0 else 1.0
    return K / len(blocks)


def ridge(
    K_known: NDArray[np.float64], K_asked: NDArray[np.float64], y: NDArray[np.float64], alpha: Any
) -> Any:
    """Minimise ‖y − μ − K c‖² + α cᵀKc by its normal equations; predictions μ + K_asked c."""
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K_known + alpha * np.eye(n)
    system[:n, n] = 1.0
    system[n, :n] = 1.0  # Σ c = 0: the derivative by μ
    solution = np.linalg.solve(system, np.append(y, 0.0))
    return solution[n] + K_asked @ solution[:n]


def left_out_predictions(
    K_known: NDArray[np.float64], K_asked: NDArray[np.float64], y: NDArray[np.float64], alpha: Any
) -> tuple[Any, ...]:
    """Refit without each known node: predictions (asked, N), and of itself (N,)."""
    n = len(y)
    asked, own = np.empty((len(K_asked), n)), np.empty(n)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        K = K_known[np.ix_(rest, rest)]
        asked[:, i] = ridge(K, K_asked[:, rest], y[rest], alpha)
        own[i] = ridge(K, K_known[[i]][:, rest], y[rest], alpha)[0]
    return asked, own


def recursive_least_squares(
    Z: NDArray[np.float64], y: NDArray[np.float64], alpha: float, intercept_variance: float = 1e12
) -> NDArray[np.float64]:
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


def jackknife_plus(
    left_out: NDArray[np.float64], own_errors: NDArray[np.float64], coverage: float
) -> NDArray[np.float64]:
    """Ends by sorting: the ⌊(1 − c)(N + 1)⌋-th and the ⌈c (N + 1)⌉-th smallest."""
    n = len(own_errors)
    lower, upper = np.empty(len(left_out)), np.empty(len(left_out))
    k = int(np.floor((1 - coverage) * (n + 1) + 1e-9))
    for row, predictions in enumerate(left_out):
        low, high = sorted(predictions - own_errors), sorted(predictions + own_errors)
        lower[row] = low[k - 1] if k >= 1 else -np.inf
        upper[row] = high[n - k] if k >= 1 else np.inf
    return np.column_stack([lower, upper])


def criterion(
    K: NDArray[np.float64], y: NDArray[np.float64], alpha: Any, part: float = 1.0
) -> tuple[Any, ...]:
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
