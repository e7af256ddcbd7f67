"""Where the four ranges of σ² lie for training rows: a public function."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from gradraker._validation import check_count, check_learning_rate, make_seed
from gradraker.features import FrequencyTable
from gradraker.kernels import get_kernel
from gradraker.kernels.ranges import Sigma2Ranges, compute_ranges, find_extreme_pairs
from gradraker.models.sigma2.refined import STATISTICS
from gradraker.models.sigma2.rules import RuleInput, find_refined_ranges

_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def sigma2_ranges(
    X: Any,
    *,
    n_frequencies: int = 200,
    kernel: str = "gaussian",
    noise: str | float = "formula",
    tested: Any = None,
    closeness: Any = 0.1,
    learning_rate: float = 0.1,
    n_epochs: int = 3,
    random_state: int | np.random.RandomState | None = None,
) -> Sigma2Ranges:
    """Where the four ranges of the kernel variance lie for a training graph.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, M)
        Adjacency vectors of the known nodes; at least two must differ.
    n_frequencies : int, default=200
        D.
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel.
    noise : {"formula", "refined", "minimum"} or float, default="formula"
        Upper end of the noise range divided by 2η: 1/√(2D) by equation (noiseup), measured by
        algorithm 2, or a number in (0, 1 − closeness). Where several nodes play T + 1 in
        algorithm 2, ``"refined"`` takes the median of their noise ranges and ``"minimum"`` the
        widest, that of the smallest contribution weight of all.
    tested : {array-like, sparse matrix} of shape (m, M), optional
        Adjacency vectors of nodes to be predicted, which play the node T + 1 of algorithm 2.
    closeness : float, default=0.1
        In (0, 0.5): how close to 2η the similarity of the farthest rows is at σ²_da.
    learning_rate, n_epochs, random_state
        Settings of the simulation of algorithm 2; see :class:`SKGRegressor`.

    Returns
    -------
    Sigma2Ranges

    Notes
    -----
    Algorithm 2 simulates SKG at the σ²_ed of the formula and takes the smallest contribution
    weight F_{i,T+1}. With ``tested`` that is done as written: all rows of X are trained, with the
    frequencies and orders of ``SKGRegressor(random_state=...)``, and tested rows (500 at most)
    play T + 1. Without them a tenth of the rows of X is held out at a time and plays it, until 50
    have. Of more than 2000 rows of X, 2000 are drawn.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_ranges
    >>> A = load_temperature().adjacency
    >>> ranges = sigma2_ranges(A)
    >>> ranges
    Sigma2Ranges: gaussian kernel, D = 200, distances 1 to ..., noise ratio 0.05 (formula)
      chaos       σ² < 0.1669 ...
      extending   0.1669 ≤ σ² ≤ ...
      disturbing  ...
      averaging   ...
    >>> ranges.find_range(1.0)
    'extending'

    Algorithm 2, with the stations that are to be predicted:

    >>> known, unknown = A[:40, :40], A[40:, :40]
    >>> sigma2_ranges(known, noise="refined", tested=unknown, random_state=0)
    Sigma2Ranges: gaussian kernel, D = 200, distances 1 to ..., noise ratio 0.0... (refined)
    ...
    """
    rows = check_array(X, input_name="X", **_ROWS)
    check_count("n_frequencies", n_frequencies)
    get_kernel(kernel)
    check_learning_rate(learning_rate)
    check_count("n_epochs", n_epochs)
    closeness = _check_closeness(closeness)
    if not (isinstance(noise, str) and noise in STATISTICS):
        given = _check_noise(noise)
        if tested is not None:
            raise ValueError(
                f"tested must be None for noise={noise!r}: algorithm 2 alone, noise='refined' or "
                "noise='minimum', looks at tested rows"
            )
        pairs = find_extreme_pairs(rows, kernel=kernel)
        return compute_ranges(pairs, n_frequencies=n_frequencies, closeness=closeness, **given)
    table = FrequencyTable(make_seed(random_state), n_frequencies, kernel, n_numbered=rows.shape[1])
    sample = RuleInput(
        rows,
        np.zeros((rows.shape[0], 1)),
        table,
        learning_rate,
        n_epochs,
        _check_tested(tested, rows.shape[1]),
    )
    return find_refined_ranges(sample, noise=str(noise), closeness=closeness)


def _check_closeness(closeness: Any) -> float:
    if not isinstance(closeness, float | int | np.number) or not 0.0 < closeness < 0.5:
        raise ValueError(f"closeness must be a number in (0, 0.5), got {closeness!r}")
    return float(closeness)


def _check_noise(noise: Any) -> dict[str, Any]:
    """Arguments of ``compute_ranges`` for a noise ratio that is not measured."""
    if isinstance(noise, str) and noise == "formula":
        return {}
    if isinstance(noise, float | int | np.number):
        return {"noise_ratio": float(noise), "noise": "given"}
    words = ", ".join(map(repr, ("formula", *STATISTICS)))
    raise ValueError(f"noise must be {words} or a number, got {noise!r}")


def _check_tested(tested: Any, n_columns: int) -> Any:
    if tested is None:
        return None
    rows = check_array(tested, input_name="tested", **_ROWS)
    if rows.shape[1] != n_columns:
        raise ValueError(f"tested has {rows.shape[1]} columns, but X has {n_columns}")
    return rows
