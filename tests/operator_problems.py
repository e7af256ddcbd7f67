"""Ridge problems on a kernel of operators, and their solutions by products."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gradraker import NodeRegressor, gnmse
from gradraker.features.walks import describe_walks
from gradraker.models.walks.choice import Choice
from gradraker.models.walks.iterative.operator_solution import OperatorSolution
from gradraker.models.walks.operators.mixes import Mix
from gradraker.models.walks.operators.operators import Operators

N = 60
ALPHA = 0.2
KERNEL = Mix(degrees=0.2, alternating=0.1, direction=0.2).to_kernel()


def make_matrix(seed: Any = 0) -> Any:
    rng = np.random.default_rng(seed)
    A = (rng.random((N, N)) < 0.06) * rng.uniform(0.2, 3.0, (N, N))
    A[3] = A[:, 3] = 0.0
    return A


def make_problem(
    seed: Any = 0,
    n_known: Any = 35,
    n_targets: Any = 2,
    direction: Any = "both",
    kernel: Any = KERNEL,
) -> Any:
    """Operators in double precision, their dense kernel, known nodes out of order, values."""
    walks = describe_walks(csr_array(make_matrix(seed)), np.arange(N), direction=direction, seed=1)
    operators = Operators(walks, dtype=np.float64)
    everyone = np.arange(N)
    K = sum(t.share * operators.compute_rows(everyone, t, everyone) for t in kernel)
    rng = np.random.default_rng(seed)
    known = rng.permutation(N)[:n_known]
    Y = 5.0 + rng.normal(size=(n_known, n_targets))
    return operators, K, known, Y


def solve(
    operators: Any, known: Any, Y: Any, kernel: Any = KERNEL, tol: Any = 1e-12, **options: Any
) -> Any:
    choice = Choice(kernel, ALPHA, (), known.size)
    return OperatorSolution(operators, known, Y, choice, tol=tol, **options)


def fit_operators(data: Any, y: Any, seed: Any = 0, part: Any = 0.5, **options: Any) -> Any:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(len(y)) < part, y, np.nan)
    tested = np.isnan(values)
    model = NodeRegressor(solver="operators", **options).fit(data, values)
    error = gnmse(y[tested], model.predict())
    return model, error / gnmse(y[tested], np.full(tested.sum(), np.nanmean(values)))
