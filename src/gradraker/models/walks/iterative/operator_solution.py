"""Ridge on a kernel of operators, solved by products: for graphs of any size.

With μ the mean of the known values and (K + αI) c = y − μ on the known nodes, a prediction is
μ + (K c)(x). A new value starts from the old coefficients: what is solved is the correction.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import Engine, map_pieces, split_range
from gradraker.features.walks import Walks
from gradraker.linear.conjugate_gradients import Solved
from gradraker.models.walks.attributes.coefficients import (
    AttributeCoefficients,
    compute_coefficients,
)
from gradraker.models.walks.choice import Choice, get_kind
from gradraker.models.walks.intervals import ErrorSizes
from gradraker.models.walks.iterative.evidence import SpreadCurve, fit_spread_curve
from gradraker.models.walks.iterative.left_out_predictors import (
    Assessment,
    average_rows,
    make_noise,
)
from gradraker.models.walks.iterative.selection import make_predictor
from gradraker.models.walks.operators.new_nodes import NewNodes
from gradraker.models.walks.operators.operators import Operators
from gradraker.models.walks.operators.ridge import (
    Group,
    InversePreconditioner,
    Preconditioner,
    make_preconditioner,
    solve_ridge,
)
from gradraker.models.walks.solution import LeftOutNodes, OnEngine, Parts

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# A correction is solved to this part of itself, so that no new value is taken for noise. On
# Facebook, predictions beside a new value are then within 1.5 % of the move of an exact solve.
_CORRECTION = 0.05
# New values below this number, and that of classes, are corrected by themselves: fewer columns. A
# solution of all nodes goes to this part of the tolerance, which leaves room for such corrections.
_FEW, _ROOM = 8, 0.7
# Residuals that are this small, relative to the values, are rounding errors.
_ROUNDING = {np.float32: 1e-6, np.float64: 1e-13}
# Weights of explanations are solved to a tenth of the tolerance; columns that are solved together.
_FINER, _COLUMNS = 0.1, 32
_MOST_ITERATIONS = 500


def _compute_norms(X: Any, engine: Engine) -> Any:
    return engine.xp.sqrt(engine.sum_products(X, X))


class _Facts(NamedTuple):
    """What all columns of a solve share."""

    operators: Operators
    preconditioner: Preconditioner
    choice: Choice
    mask: Any  # [n, 1]
    noise: Any


def _solve_piece(facts: _Facts, piece: tuple[Any, Any]) -> Solved:
    """Solve (K + αI) c = columns of a piece, down to its floors."""
    columns, floor = piece
    return solve_ridge(
        facts.operators,
        facts.preconditioner,
        facts.choice.kernel,
        columns,
        [Group(slice(0, columns.shape[1]), facts.mask)],
        np.full(columns.shape[1], facts.choice.alpha),
        tol=0.0,
        floor=floor,
        max_iterations=_MOST_ITERATIONS,
        noise=facts.noise,
    )


class OperatorSolution(OnEngine):
    """A solution by conjugate gradients, which goes on from where it is when values come."""

    def __init__(
        self,
        operators: Operators,
        known: Rows,
        Y: Matrix,
        choice: Choice,
        *,
        tol: float,
        assessment: Assessment | None = None,
        n_assessed: int | None = None,
        coefficients: NDArray[Any] | None = None,
        products: NDArray[Any] | None = None,
        mean: Matrix | None = None,
        preconditioner: Preconditioner | None = None,
        trust: Matrix | None = None,
    ) -> None:
        """Start from nothing, from old ``coefficients`` (N, K), or where these solve all.

        ``products`` (n, K) are K c of coefficients that are a solution already, about this
        ``mean``. The ``assessment`` is about the first ``n_assessed`` known nodes; default all.
        ``trust`` (N,) are sample weights w: the noise of a value is α/w; such a solution does not
        grow.
        """
        self._trust, self._noise = trust, make_noise(operators, known, trust)
        self._operators, self.choice, self._tol = operators, choice, tol
        self.preconditioner = preconditioner
        self.assessment = assessment
        self.n_assessed = known.size if n_assessed is None else n_assessed
        self._new_nodes: NewNodes | None = None
        self._curve: SpreadCurve | None = None
        self._evidence: Matrix | None = None
        self.known, self.Y = known, Y
        n, K = operators.n, Y.shape[1]
        self._C = np.zeros((n, K), dtype=operators.dtype)
        if coefficients is not None:
            self._C[known[: len(coefficients)]] = coefficients
        self._C = operators.engine.load(self._C, operators.dtype)
        self.mean = average_rows(Y, trust) if mean is None else mean
        self._set_targets()
        if products is not None:
            self._F = operators.engine.load(products, operators.dtype)
        else:
            self._start()

    def _get_place(self) -> tuple[Engine, Walks]:
        return self._operators.engine, self._operators.walks

    @property
    def coefficients(self) -> NDArray[Any]:
        """Coefficients (N, K) of the known nodes."""
        return np.asarray(self._operators.engine.fetch(self._C)[self.known])

    @property
    def products(self) -> NDArray[Any]:
        """K c at all nodes, (n, K)."""
        return np.asarray(self._operators.engine.fetch(self._F))

    def _start(self) -> None:
        """Solve from the present coefficients, with products that are made anew."""
        xp = self._operators.engine.xp
        self._F = xp.zeros_like(self._C)
        if self.choice.kernel and bool(self._C.any()):
            self._F = self._operators.multiply(self._C, self.choice.kernel)
        self._solve()

    def set_values(self, Y: Matrix) -> None:
        """Take other values (N, K) of the known nodes."""
        changed = self.known[(self.Y != Y).any(axis=1)]
        self.Y = Y
        self._forget_assessment()
        self._solve(changed)

    def _forget_assessment(self) -> None:
        """Assess all known nodes anew when asked, unless a choice stands on the assessment."""
        if not self.choice.tried:
            self.assessment, self.n_assessed = None, self.known.size

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""
        self.known, self.Y = np.concatenate([self.known, new]), Y
        self._forget_assessment()
        self._solve(new)

    def _solve(self, changed: Rows | None = None) -> None:
        """Correct the coefficients until the residual is small, both in itself and as a change.

        Where it is small but for a few nodes with ``changed`` values, these are corrected alone.
        """
        if changed is not None and self._solve_few(changed):
            return
        self.mean = average_rows(self.Y, self._trust)
        target = self._set_targets()
        if not self.choice.kernel:
            return
        engine, xp = self._operators.engine, self._operators.engine.xp
        residual, sizes = self._compute_residual(target), _compute_norms(target, engine)
        change = _compute_norms(residual, engine)
        wanted = xp.minimum(_ROOM * self._tol * sizes, _CORRECTION * change)
        least = _ROUNDING[self._operators.dtype] * sizes
        coefficients, products = self._solve_columns(residual, xp.maximum(wanted, least))
        self._C, self._F = self._C + coefficients, self._F + products

    def _solve_few(self, changed: Rows) -> bool:
        """Correct for a few values by a column for each node; False if that is not enough.

        The mean stays as it is, as long as it is within the tolerance.
        """
        if not (self.choice.kernel and 0 < changed.size < min(_FEW, self.Y.shape[1])):
            return False
        engine, target = self._operators.engine, self._set_targets()
        residual, rows = self._compute_residual(target), engine.load_rows(changed)
        news = residual[rows]
        residual[rows] = 0.0
        drift = self.known.size**0.5 * np.abs(average_rows(self.Y, self._trust) - self.mean)
        left = np.maximum(engine.fetch(_compute_norms(residual, engine)), drift)
        if (left > self._tol * engine.fetch(_compute_norms(target, engine))).any():
            return False
        units = self._operators.make_units(changed)
        coefficients, products = self._solve_columns(units, _CORRECTION)
        self._C, self._F = self._C + coefficients @ news, self._F + products @ news
        return True

    def _compute_residual(self, target: Any) -> Any:
        alpha = self._operators.dtype(self.choice.alpha)
        noise = alpha if self._noise is None else alpha * self._noise
        return target - self._mask * self._F - noise * self._C

    def _solve_columns(self, columns: Any, floor: Any) -> tuple[Any, Any]:
        """Return coefficients c (n, k) with (K + αI) c = columns, and K c at all nodes."""
        xp, pieces = self._operators.engine.xp, []
        for some in split_range(columns.shape[1], _COLUMNS):
            own = floor if np.ndim(floor) == 0 else floor[some]
            pieces.append((xp.ascontiguousarray(columns[:, some]), own))
        facts = _Facts(
            self._operators, self._get_preconditioner(), self.choice, self._mask, self._noise
        )
        found = map_pieces(_solve_piece, facts, pieces)
        self.n_iterations = max(solved.n_iterations for solved in found)
        if len(found) == 1:
            return found[0].coefficients, found[0].products
        coefficients = xp.hstack([solved.coefficients for solved in found])
        return coefficients, xp.hstack([solved.products for solved in found])

    def _set_targets(self) -> Any:
        """Set the mask of the known nodes; return their values less the mean."""
        engine, dtype, n = self._operators.engine, self._operators.dtype, self._operators.n
        self._new_nodes = self._curve = self._evidence = None
        self.error_sizes: dict[int, tuple[ErrorSizes, Matrix]] = {}
        values, mask = np.zeros((n, self.Y.shape[1]), dtype), np.zeros((n, 1), dtype)
        values[self.known] = self.Y - self.mean
        mask[self.known] = 1.0
        self._mask = engine.load(mask, dtype)
        return engine.load(values, dtype)

    def _get_preconditioner(self) -> Preconditioner:
        old = self.preconditioner
        if isinstance(old, InversePreconditioner) and not old.grow(self.choice.kernel, self.known):
            self.preconditioner = None
        if self.preconditioner is None:
            self.preconditioner = make_preconditioner(self._operators, self.known)
        return self.preconditioner

    # -- predictions -------------------------------------------------------------

    def predict(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        if not self.choice.kernel:
            return np.tile(self.mean, (rows.size, 1))
        if at is not None:
            return np.asarray(self.mean + self._get_new_nodes().predict(at)[rows])
        F = self._operators.engine.fetch(self._F)
        return np.asarray(self.mean + F[rows], dtype=np.float64)

    def _get_new_nodes(self) -> NewNodes:
        if self._new_nodes is None:
            self._new_nodes = NewNodes(self._operators, self.choice.kernel, self._C, self._mask)
        return self._new_nodes

    def predict_parts(self, rows: Rows) -> Parts:
        """What each kind of similarity adds to the mean of the known values."""
        kinds = tuple(dict.fromkeys(get_kind(term.block) for term in self.choice.kernel))
        values = np.zeros((rows.size, len(kinds), self.Y.shape[1]))
        if kinds:
            for term, product in self._operators.multiply_terms(self._C, self.choice.kernel):
                number = kinds.index(get_kind(term.block))
                values[:, number] += term.share * self._operators.engine.fetch(product)[rows]
        return Parts(kinds, values)

    def compute_coefficients(self) -> AttributeCoefficients:
        """Coefficients of linear terms of attributes."""
        attributes = self._operators.attributes
        return compute_coefficients(attributes, self.choice.kernel, self.known, self.coefficients)

    # -- weights -----------------------------------------------------------------

    def compute_weights(self, rows: Rows) -> Matrix:
        """Weights of the known values in predictions, (n, N): one solve per row."""
        trust = self._get_trust()
        g = trust / trust.sum()
        found = np.tile(g, (rows.size, 1))
        if not self.choice.kernel:
            return found
        for some in split_range(rows.size, _COLUMNS):
            units = self._operators.make_units(rows[some])
            columns = self._operators.multiply(units, self.choice.kernel) * self._mask
            inner = self._invert(columns)
            found[some] += inner - inner.sum(axis=1, keepdims=True) * g
        return found

    def compute_left_out_weights(self, positions: Rows) -> Matrix:
        """Weights in the predictions of known nodes without their own values, (n, N).

        With column i of H⁻¹, the weights of the others are −H⁻¹_ji / H⁻¹_ii, and the rest of 1 is
        spread over all others, as the mean is.
        """
        trust = self._get_trust()
        others = np.tile(trust, (positions.size, 1))  # [n, N]: shares of the mean of the others
        others[np.arange(positions.size), positions] = 0.0
        others /= np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
        if not self.choice.kernel:
            found = others
        else:
            found = np.empty((positions.size, trust.size))
            for some in split_range(positions.size, _COLUMNS):
                units = self._operators.make_units(self.known[positions[some]])
                found[some] = self._invert(units)
            at = np.arange(positions.size), positions
            found /= -found[at][:, np.newaxis]
            found[at] = 0.0
            found += (1.0 - found.sum(axis=1, keepdims=True)) * others
        return found

    def _get_trust(self) -> Matrix:
        return np.ones(self.known.size) if self._trust is None else self._trust

    def _invert(self, columns: Any) -> Matrix:
        """H⁻¹ times columns (n, k), as rows (k, N)."""
        solved = solve_ridge(
            self._operators,
            self._get_preconditioner(),
            self.choice.kernel,
            columns,
            [Group(slice(0, columns.shape[1]), self._mask)],
            np.full(columns.shape[1], self.choice.alpha),
            tol=_FINER * self._tol,
            max_iterations=_MOST_ITERATIONS,
            noise=self._noise,
        )
        coefficients = self._operators.engine.fetch(solved.coefficients)
        return np.asarray(coefficients[self.known].T, dtype=np.float64)

    # -- errors ------------------------------------------------------------------

    def predict_left_out(self) -> LeftOutNodes:
        """Predict known nodes without their own values: those that the choice stands on."""
        positions, predictions, one_at_a_time = self._assess()
        spreads = np.ones(positions.size)  # as of all nodes, where the mean is predicted
        if self.choice.kernel:
            spreads = self._get_curve().compute(self._measure_own_evidence(positions))
        return LeftOutNodes(positions, predictions, spreads, one_at_a_time)

    def _assess(self) -> Assessment:
        if self.assessment is not None:
            return self.assessment
        Y = self.Y[: self.n_assessed]
        if not self.choice.kernel:
            others = np.full_like(Y, np.nan)  # of one node, nothing is left
            if len(Y) > 1:
                weights = self._get_trust()[: len(Y), np.newaxis]
                others = ((weights * Y).sum(axis=0) - weights * Y) / (weights.sum() - weights)
            return Assessment(np.arange(len(Y)), others, True)
        trust = None if self._trust is None else self._trust[: self.n_assessed]
        predictor = make_predictor(self._operators, self.known[: self.n_assessed], Y, trust)
        (predictions,) = predictor.predict(self.choice.kernel, (self.choice.alpha,))
        self.assessment = Assessment(predictor.positions, predictions, predictor.one_at_a_time)
        return self.assessment

    def estimate_spreads(self, rows: Rows, at: Any = None) -> Matrix:
        """Sizes that errors are expected to have: the more known nodes are alike, the smaller."""
        if not self.choice.kernel:
            return np.ones(rows.size)
        if at is not None:
            return self._get_curve().compute(self._get_new_nodes().measure_evidence(at)[rows])
        evidence = self._get_evidence()[rows]
        # A known node has itself for evidence, which an error of its prediction must not count.
        own = self._operators.compute_diagonal(self.choice.kernel)[rows]
        return self._get_curve().compute(evidence - self._get_mask()[rows] * own)

    def _get_mask(self) -> Matrix:
        return np.asarray(self._operators.engine.fetch(self._mask)[:, 0], dtype=np.float64)

    def _get_evidence(self) -> Matrix:
        """K 1 at all nodes: how alike the known nodes are to each, all together."""
        if self._evidence is None:
            product = self._operators.multiply(self._mask, self.choice.kernel)
            self._evidence = np.asarray(self._operators.engine.fetch(product)[:, 0], dtype=float)
        return self._evidence

    def _measure_own_evidence(self, positions: Rows) -> Matrix:
        rows = self.known[positions]
        own = self._operators.compute_diagonal(self.choice.kernel)[rows]
        return np.asarray(self._get_evidence()[rows] - own)

    def _get_curve(self) -> SpreadCurve:
        if self._curve is None:
            positions, predictions, _ = self._assess()
            errors = np.abs(self.Y[positions] - predictions).mean(axis=1)
            self._curve = fit_spread_curve(self._measure_own_evidence(positions), errors)
        return self._curve
