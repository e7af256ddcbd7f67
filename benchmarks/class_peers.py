"""Off-the-shelf methods that predict classes of nodes; see ``peers.py``.

Labels are whole numbers from 0. Parameters are tuned by the accuracy of 5-fold cross-validation on
the known nodes.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from peers import Nodes, PackagedPeer, convolved, spectral, tikhonov_at, undirected

Labels = NDArray[np.int64]


def tuned(predict: Callable[..., Labels], grid: Mapping[str, Sequence[Any]]) -> Any:
    """A peer with the parameters of a grid that are most often right in 5-fold CV."""
    settings = [dict(zip(grid, some, strict=True)) for some in itertools.product(*grid.values())]

    def peer(A: csr_array, labels: Labels, known: Nodes, unknown: Nodes) -> Labels:
        folds = list(KFold(5, shuffle=True, random_state=0).split(known))
        right = [
            sum(
                np.sum(
                    predict(A, labels, known[train], known[held], **setting) == labels[known[held]]
                )
                for train, held in folds
            )
            for setting in settings
        ]
        return predict(A, labels, known, unknown, **settings[int(np.argmax(right))])

    return peer


def most_common(A: csr_array, labels: Labels, known: Nodes, unknown: Nodes) -> Labels:
    """The class that most known nodes have."""
    return np.full(unknown.size, np.bincount(labels[known]).argmax())


def _diffusion(
    A: csr_array, labels: Labels, known: Nodes, unknown: Nodes, *, n_iter: int, centering: bool
) -> Labels:
    """scikit-network: heat of each class spreads over edges."""
    from sknetwork.classification import DiffusionClassifier

    model = DiffusionClassifier(n_iter=n_iter, centering=centering)
    known_labels = {int(node): int(labels[node]) for node in known}
    found = model.fit_predict(csr_matrix(undirected(A)), known_labels)
    return np.where(found < 0, np.bincount(labels[known]).argmax(), found)[unknown]


def _tikhonov(A: csr_array, labels: Labels, known: Nodes, unknown: Nodes, *, tau: float) -> Any:
    """PyGSP: the largest of one smooth signal per class."""
    one_hot = np.eye(labels.max() + 1)[labels]
    return tikhonov_at(A, one_hot, known, unknown, tau=tau).argmax(axis=1)


def _logistic(
    A: csr_array, labels: Labels, known: Nodes, unknown: Nodes, *, n_vectors: int, C: float
) -> Any:
    """scikit-learn: logistic regression on degrees and spectral features."""
    X = spectral(A, n_vectors)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=1000))
    return model.fit(X[known], labels[known]).predict(X[unknown])


def _lightgbm(A: csr_array, labels: Any, known: Any, unknown: Any, *, n_vectors: int) -> Labels:
    """LightGBM: boosted trees on degrees and spectral features."""
    import lightgbm

    X = spectral(A, n_vectors)
    model = lightgbm.LGBMClassifier(
        n_estimators=40,
        learning_rate=0.05,  # larger steps diverge where a class has few nodes
        reg_lambda=1.0,
        num_leaves=7,
        min_child_samples=3,
        subsample=0.8,
        subsample_freq=1,
        colsample_bytree=0.3,
        random_state=0,
        n_jobs=1,
        verbose=-1,
    )
    return model.fit(X[known], labels[known]).predict(X[unknown])  # type: ignore[return-value]


def _gcn(A: csr_array, labels: Labels, known: Nodes, unknown: Nodes, *, decay: float) -> Any:
    """A graph convolutional network, trained by cross entropy."""
    found = convolved(
        A, labels, known, n_outputs=labels.max() + 1, hidden=32, decay=decay, classes=True
    )
    return found[unknown].argmax(axis=1)


CLASSES: dict[str, PackagedPeer] = {
    "the most common class": PackagedPeer(most_common),  # type: ignore[arg-type]
    "scikit-network diffusion": PackagedPeer(
        tuned(_diffusion, {"n_iter": (3, 10, 30), "centering": (True, False)}), "sknetwork"
    ),
    "PyGSP Tikhonov": PackagedPeer(tuned(_tikhonov, {"tau": (0.01, 0.1, 1.0)}), "pygsp"),
    "LogisticRegression, degree + spectral": PackagedPeer(
        tuned(_logistic, {"n_vectors": (32, 64, 128), "C": (0.1, 1.0)})
    ),
    "LightGBM, degree + spectral": PackagedPeer(partial(_lightgbm, n_vectors=64), "lightgbm"),  # type: ignore[arg-type]
    "GCN": PackagedPeer(tuned(_gcn, {"decay": (5e-4, 5e-3)}), "torch"),
}
