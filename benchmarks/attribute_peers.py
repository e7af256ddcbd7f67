"""Off-the-shelf methods for nodes with attributes; see ``bench_attributes.py``.

Every peer gets the edges, the attributes of all nodes, and the values of the known ones. Numbers
are standardised, rows of words have length 1. Peers with a penalty are tuned by 5-fold
cross-validation on the known nodes; LightGBM and the networks have the settings of their papers or
good defaults.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array, issparse
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]
# Edges, attributes, values or classes, known nodes, unknown nodes → predictions.
Peer = Callable[[csr_array, Any, NDArray[Any], Nodes, Nodes], NDArray[Any]]
_PENALTIES = np.logspace(-3, 4, 15)


def make_symmetric_walk(A: csr_array) -> csr_array:
    """D⁻¹ᐟ² (A + I) D⁻¹ᐟ²."""
    W = csr_array(A + eye_array(A.shape[0]))
    root = diags_array(1.0 / np.sqrt(W.sum(axis=1)))
    return csr_array(root @ W @ root)


def scale(X: Any) -> Any:
    """Rows of words of length 1, columns of numbers with mean 0 and spread 1."""
    if issparse(X):
        lengths = np.sqrt(X.multiply(X).sum(axis=1))
        return csr_array(diags_array(1.0 / np.where(lengths > 0.0, lengths, 1.0)) @ X)
    return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)


def smooth(A: csr_array, X: Any, steps: int) -> Any:
    """SᵏX."""
    found, S = scale(X), make_symmetric_walk(A)
    for _ in range(steps):
        found = S @ found
    return found


def _join(*parts: Any) -> Any:
    from scipy.sparse import hstack

    return csr_array(hstack(parts)) if issparse(parts[0]) else np.hstack(parts)


def append_neighbour_means(A: csr_array, X: Any) -> Any:
    """A node's own attributes, and means over its neighbours, and over theirs."""
    own = scale(X)
    degrees = np.asarray(A.sum(axis=1))
    W = csr_array(diags_array(1.0 / np.where(degrees > 0.0, degrees, 1.0)) @ A)
    return _join(own, W @ own, W @ (W @ own))


# -- numbers ---------------------------------------------------------------------------------


def predict_by_ridge(
    A: csr_array, X: Any, y: Floats, known: Nodes, unknown: Nodes, *, join: bool
) -> Any:
    """Ridge regression on smoothed attributes, or on own and neighbours' attributes."""
    Z = append_neighbour_means(A, X) if join else smooth(A, X, 2)
    return RidgeCV(alphas=_PENALTIES).fit(Z[known], y[known]).predict(Z[unknown])


def predict_by_boosting(A: csr_array, X: Any, y: Floats, known: Nodes, unknown: Nodes) -> Any:
    """LightGBM on own and neighbours' attributes, degrees included."""
    import lightgbm

    Z = _join(append_neighbour_means(A, X), np.log1p(np.asarray(A.sum(axis=1)))[:, np.newaxis])
    model = lightgbm.LGBMRegressor(
        n_estimators=400, learning_rate=0.05, num_leaves=15, min_child_samples=5,
        subsample=0.8, subsample_freq=1, colsample_bytree=0.7, random_state=0, n_jobs=1, verbose=-1,
    )  # fmt: skip
    return model.fit(Z[known], y[known]).predict(Z[unknown])


def predict_by_correcting(A: csr_array, X: Any, y: Floats, known: Nodes, unknown: Nodes) -> Any:
    """Correct & Smooth: errors of ridge regression are spread along edges."""
    Z = append_neighbour_means(A, X)
    model = RidgeCV(alphas=_PENALTIES).fit(Z[known], y[known])
    found = model.predict(Z)
    spread = _spread_errors(A, known, y[known] - found[known], 0.9)
    return (found + spread)[unknown]


def _spread_errors(A: csr_array, known: Nodes, errors: NDArray[Any], damping: float) -> Any:
    """Errors of known nodes, spread over the graph and fixed at the known nodes."""
    S = make_symmetric_walk(A)
    start = np.zeros((A.shape[0], *errors.shape[1:]))
    start[known] = errors
    found = start
    for _ in range(50):
        found = damping * (S @ found) + (1.0 - damping) * start
        found[known] = errors
    return found


# -- classes ---------------------------------------------------------------------------------


def _fit_logistic(Z: Any, codes: NDArray[np.int64]) -> Any:
    fewest = int(np.bincount(codes)[np.unique(codes)].min())
    folds: Any = StratifiedKFold(min(5, fewest), shuffle=True, random_state=0)
    if fewest < 2:
        folds = KFold(5, shuffle=True, random_state=0)
    model = LogisticRegressionCV(
        Cs=np.logspace(-1, 4, 6),
        cv=folds,
        max_iter=300,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
        scoring="accuracy",
    )
    return model.fit(Z, codes)


def predict_by_logistic(
    A: csr_array, X: Any, y: Any, known: Nodes, unknown: Nodes, *, steps: int
) -> Any:
    """Logistic regression on SᵏX; k = 2 is the simple graph convolution (SGC)."""
    Z = smooth(A, X, steps)
    return _fit_logistic(Z[known], y[known]).predict(Z[unknown])


def predict_classes_by_boosting(A: csr_array, X: Any, y: Any, known: Nodes, unknown: Nodes) -> Any:
    """LightGBM on own and neighbours' attributes; of words on 64 directions of each."""
    import lightgbm
    from sklearn.decomposition import TruncatedSVD

    Z = scale(X)
    if issparse(Z) and Z.shape[1] > 64:
        Z = TruncatedSVD(64, random_state=0).fit_transform(Z)
    degrees = np.asarray(A.sum(axis=1))
    W = csr_array(diags_array(1.0 / np.where(degrees > 0.0, degrees, 1.0)) @ A)
    Z = np.hstack([Z, W @ Z, W @ (W @ Z), np.log1p(degrees)[:, np.newaxis]])
    model = lightgbm.LGBMClassifier(
        n_estimators=100, learning_rate=0.05, num_leaves=7, min_child_samples=3, reg_lambda=1.0,
        subsample=0.8, subsample_freq=1, colsample_bytree=0.3, random_state=0, n_jobs=1, verbose=-1,
    )  # fmt: skip
    return model.fit(Z[known], y[known]).predict(Z[unknown])


def predict_classes_by_correcting(
    A: csr_array, X: Any, y: Any, known: Nodes, unknown: Nodes
) -> Any:
    """Correct & Smooth on logistic regression of own attributes."""
    Z = scale(X)
    model = _fit_logistic(Z[known], y[known])
    classes = model.classes_
    found = model.predict_proba(Z)
    one_hot = (y[:, np.newaxis] == classes).astype(np.float64)
    found = found + _spread_errors(A, known, one_hot[known] - found[known], 0.9)
    found[known] = one_hot[known]
    S, start = make_symmetric_walk(A), found
    for _ in range(50):
        found = 0.9 * (S @ found) + 0.1 * start
    return classes[found.argmax(axis=1)][unknown]


def _to_tensor(matrix: Any) -> Any:
    import torch

    return torch.sparse_coo_tensor(
        np.stack(matrix.coords),  # type: ignore[arg-type]
        matrix.data.astype(np.float32),
        matrix.shape,
        check_invariants=False,
    ).coalesce()


def predict_by_network(
    A: csr_array, X: Any, y: Any, known: Nodes, unknown: Nodes, *, are_classes: bool
) -> Any:
    """A graph convolutional network of two layers, as in its paper: 200 steps, no validation."""
    import torch

    torch.manual_seed(0)
    Z, S = scale(X), make_symmetric_walk(A).tocoo()
    hidden, drop, decay = (16, 0.5, 5e-4) if are_classes else (32, 0.0, 1e-4)
    P = _to_tensor(S)
    inputs = _to_tensor(Z.tocoo()) if issparse(Z) else torch.tensor(Z.astype(np.float32))
    centre, spread = (0.0, 1.0) if are_classes else (y[known].mean(), y[known].std())
    goal = torch.tensor(y[known] if are_classes else ((y[known] - centre) / spread).astype("f"))
    goal = goal.long() if are_classes else goal[:, None]
    first = torch.nn.Linear(Z.shape[1], hidden)
    second = torch.nn.Linear(hidden, int(y[y >= 0].max()) + 1 if are_classes else 1)
    rule = torch.optim.Adam([*first.parameters(), *second.parameters()], 0.01, weight_decay=decay)
    loss = torch.nn.CrossEntropyLoss() if are_classes else torch.nn.MSELoss()

    dropout = torch.nn.functional.dropout

    def compute(training: bool) -> Any:
        if inputs.is_sparse:  # entries that are 0 need no dropout
            kept = dropout(inputs.values(), drop, training)
            some = torch.sparse_coo_tensor(
                inputs.indices(), kept, inputs.shape, is_coalesced=True, check_invariants=False
            )
            inner = torch.sparse.mm(some, first.weight.T) + first.bias
        else:
            inner = first(dropout(inputs, drop, training))
        inner = torch.relu(torch.sparse.mm(P, inner))
        return torch.sparse.mm(P, second(dropout(inner, drop, training)))

    for _ in range(200):
        rule.zero_grad()
        loss(compute(True)[known], goal).backward()
        rule.step()
    with torch.no_grad():
        found = compute(False).numpy()
    return found.argmax(axis=1)[unknown] if are_classes else centre + spread * found[unknown, 0]


NUMBERS: dict[str, tuple[Peer, str]] = {
    "ridge on S²X": (partial(predict_by_ridge, join=False), "sklearn"),
    "ridge on X, neighbours' X": (partial(predict_by_ridge, join=True), "sklearn"),
    "Correct & Smooth": (predict_by_correcting, "sklearn"),
    "LightGBM, neighbours' X": (predict_by_boosting, "lightgbm"),
    "GCN": (partial(predict_by_network, are_classes=False), "torch"),
}
CLASSES: dict[str, tuple[Peer, str]] = {
    "logistic on X": (partial(predict_by_logistic, steps=0), "sklearn"),
    "SGC (logistic on S²X)": (partial(predict_by_logistic, steps=2), "sklearn"),
    "logistic on S⁴X": (partial(predict_by_logistic, steps=4), "sklearn"),
    "Correct & Smooth": (predict_classes_by_correcting, "sklearn"),
    "LightGBM, neighbours' X": (predict_classes_by_boosting, "lightgbm"),
    "GCN": (partial(predict_by_network, are_classes=True), "torch"),
}
