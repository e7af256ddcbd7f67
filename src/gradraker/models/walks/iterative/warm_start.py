"""What a solution goes on from: an earlier one, of a graph before it grew or of a file."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.models.persistence.saving import Arrays, State, check_int
from gradraker.models.walks.choice import Choice
from gradraker.models.walks.iterative.left_out_predictors import Assessment
from gradraker.models.walks.iterative.operator_solution import OperatorSolution
from gradraker.models.walks.operators.operators import Operators
from gradraker.models.walks.operators.ridge import Preconditioner

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


class WarmStart(NamedTuple):
    """An earlier solution, as far as a later one can use it.

    ``products`` are K c where the coefficients still solve the present state, else None.
    """

    known: Rows
    coefficients: NDArray[Any]  # [N, K]
    products: NDArray[Any] | None  # [n, K]
    assessment: Assessment | None
    n_assessed: int
    mean: Matrix | None = None  # [K], of the values that products are about
    preconditioner: Preconditioner | None = None


def keep_warm(solution: OperatorSolution) -> WarmStart:
    """Keep what the solution of a graph that has changed can use."""
    return WarmStart(
        solution.known,
        solution.coefficients,
        None,
        solution.assessment,
        solution.n_assessed,
        preconditioner=solution.preconditioner,
    )


def start_solution(
    warm: WarmStart,
    operators: Operators,
    known: Rows,
    Y: Matrix,
    choice: Choice,
    *,
    tol: float,
    trust: Matrix | None = None,
) -> OperatorSolution:
    """Solve from where an earlier solution was, as far as nodes and targets are still the same."""
    n_targets = Y.shape[1]
    coefficients: NDArray[Any] | None = warm.coefficients
    if warm.coefficients.shape[1] != n_targets or not np.array_equal(
        warm.known, known[: warm.known.size]
    ):
        coefficients = None
    is_whole = coefficients is not None and warm.known.size == known.size
    assessment, n_assessed = warm.assessment, warm.n_assessed
    if not choice.tried:  # nothing stands on the assessment: all known nodes are assessed anew
        assessment, n_assessed = None, known.size
    elif assessment is not None and assessment.predictions.shape[1] != n_targets:
        assessment = None
    if warm.preconditioner is not None:
        warm.preconditioner.move(operators)
    return OperatorSolution(
        operators,
        known,
        Y,
        choice,
        tol=tol,
        assessment=assessment,
        n_assessed=n_assessed,
        coefficients=coefficients,
        products=warm.products if is_whole else None,
        mean=warm.mean if is_whole else None,
        preconditioner=warm.preconditioner,
        trust=trust,
    )


def dump_solution(solution: OperatorSolution) -> tuple[State, Arrays]:
    """Return a solution as state and arrays of a file."""
    return dump_warm_start(
        keep_warm(solution)._replace(products=solution.products, mean=solution.mean)
    )


def dump_warm_start(warm: WarmStart) -> tuple[State, Arrays]:
    """Return what a file held, or a solution, as state and arrays of a file."""
    assert warm.products is not None
    assert warm.mean is not None
    arrays: Arrays = {
        "coefficients": warm.coefficients,
        "products": warm.products,
        "mean": warm.mean,
    }
    state: State = {"n_assessed": warm.n_assessed}
    if warm.assessment is not None:
        arrays["left_out_positions"] = warm.assessment.positions
        arrays["left_out_predictions"] = warm.assessment.predictions
        state["one_at_a_time"] = warm.assessment.one_at_a_time
    return state, arrays


def restore_warm_start(known: Rows, n_nodes: int, state: State, arrays: Arrays) -> WarmStart:
    """Return what :func:`dump_solution` wrote, checked against the known nodes and all nodes."""
    C, F = arrays["coefficients"], arrays["products"]
    mean = arrays["mean"].astype(np.float64, casting="safe")
    if C.ndim != 2 or len(C) != known.size or F.shape != (n_nodes, C.shape[1]):
        raise ValueError("the coefficients do not fit")
    if mean.shape != C.shape[1:]:
        raise ValueError("the mean does not fit")
    if not all(np.isfinite(numbers).all() for numbers in (C, F, mean)):
        raise ValueError("a coefficient is not finite")
    n_assessed = check_int("n_assessed", state["n_assessed"], most=known.size)
    assessment = None
    if "left_out_positions" in arrays:
        positions = arrays["left_out_positions"].astype(np.int64, casting="safe")
        predictions = arrays["left_out_predictions"].astype(np.float64, casting="safe")
        fits = positions.ndim == 1 and predictions.shape == (positions.size, C.shape[1])
        if not fits or positions.size == 0 or not np.isfinite(predictions).all():
            raise ValueError("the left-out predictions do not fit")
        if positions.min() < 0 or positions.max() >= n_assessed:
            raise ValueError("a left-out position is not that of a known node")
        assessment = Assessment(positions, predictions, bool(state["one_at_a_time"]))
    return WarmStart(known, C, F, assessment, n_assessed, mean)
