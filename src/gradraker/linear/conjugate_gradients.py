"""Ridge with a kernel of which only products are available: preconditioned conjugate gradients.

Solves (K_kk + αI) c = r for many columns at once. Vectors have an entry for each node, and a mask
marks the known nodes: vectors are 0 elsewhere. Columns may have different masks and penalties, so
folds of a cross-validation and a path of penalties are columns of one solve. The products
K c at all nodes, known or not, are by-products: they are the predictions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from gradraker.features.engine import Engine, tell_progress

Product = Callable[[Any], Any]


class Solved(NamedTuple):
    """Coefficients c, products K c at all nodes, and residuals, each (n, columns)."""

    coefficients: Any
    products: Any
    residuals: Any
    n_iterations: int


def solve_by_products(
    multiply: Product,
    R: Any,
    mask: Any,
    alphas: Any,
    *,
    tol: float,
    max_iterations: int,
    precondition: Product | None = None,
    floor: Any = 0.0,
    engine: Engine,
) -> Solved:
    """Solve (K_kk + αI) c = r from c = 0, until ‖residual‖ ≤ max(tol ‖r‖, floor) in each column.

    Parameters
    ----------
    multiply : callable
        X (n, columns) → K X.
    R : array of shape (n, columns)
        Right-hand sides, 0 outside the mask.
    mask : array of shape (n, columns) or (n, 1)
        1 where a node is known, else 0.
    alphas : array of shape (columns,)
        Penalties.
    tol : float
        Relative residual at which a column is done.
    max_iterations : int
        Largest number of products.
    precondition : callable, optional
        X → M⁻¹ X, 0 outside the mask.
    floor : float or array of shape (columns,)
        Absolute residual at which a column is done.
    engine : Engine
        The engine of the arrays.
    """
    xp = engine.xp
    C, F = xp.zeros_like(R), xp.zeros_like(R)
    residual = R.copy()
    target = xp.maximum(tol * _compute_norms(R, engine), floor)
    Z = residual if precondition is None else precondition(residual)
    step = Z.copy()
    slope = engine.sum_products(residual, Z)
    n_iterations = 0
    while n_iterations < max_iterations and bool((_compute_norms(residual, engine) > target).any()):
        products = multiply(step)
        image = products * mask + alphas * step
        size = _divide(slope, engine.sum_products(step, image), xp).astype(R.dtype)
        C += size * step
        F += size * products
        residual -= size * image
        Z = residual if precondition is None else precondition(residual)
        new = engine.sum_products(residual, Z)
        step = Z + _divide(new, slope, xp).astype(R.dtype) * step
        slope = new
        n_iterations += 1
        tell_progress("solving", n_iterations, max_iterations)
    return Solved(C, F, residual, n_iterations)


def _compute_norms(A: Any, engine: Engine) -> Any:
    return engine.xp.sqrt(engine.sum_products(A, A))


def _divide(numerators: Any, denominators: Any, xp: Any) -> Any:
    """Quotients, 0 where the denominator is 0: a column that is solved exactly does not change."""
    positive = denominators > 0.0
    return xp.where(positive, numerators, 0.0) / xp.where(positive, denominators, 1.0)
