"""Off-the-shelf methods that predict values of nodes, each as one small function.

A peer gets the whole graph, the values of all nodes, of which it may use the known ones only, and
the nodes to predict. Parameters are tuned by 5-fold cross-validation on the known nodes (Gaussian
processes by their own likelihood). Peers of other packages come with ``pip install
gradraker[peers]``; :func:`missing` lists the packages that are not installed.
"""

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold

from gradraker import SKGRegressor

Floats = NDArray[np.float64]
Nodes = NDArray[np.intp]
# Called with the graph, the values, the known nodes and those to predict.
Peer = Callable[[csr_array, Floats, Nodes, Nodes], Floats]


class PackagedPeer(NamedTuple):
    """A peer and the package that it needs, "" if it is always installed."""

    predict: Peer
    package: str = ""


def missing(packaged: Mapping[str, PackagedPeer]) -> list[str]:
    """Names of the packages that are not installed."""
    packages = {peer.package for peer in packaged.values()} - {""}
    return sorted(package for package in packages if find_spec(package) is None)


def present(packaged: Mapping[str, PackagedPeer]) -> dict[str, Peer]:
    """The peers whose packages are installed."""
    absent = missing(packaged)
    return {name: peer.predict for name, peer in packaged.items() if peer.package not in absent}


def tuned(predict: Callable[..., Floats], grid: Mapping[str, Sequence[Any]]) -> Peer:
    """A peer with the parameters of a grid that are best in 5-fold CV on the known nodes.

    ``predict(A, y, known, unknown, **parameters)`` predicts; the error is the sum of squares.
    """
    settings = [dict(zip(grid, some, strict=True)) for some in itertools.product(*grid.values())]

    def peer(A: csr_array, y: Floats, known: Nodes, unknown: Nodes) -> Floats:
        folds = list(KFold(5, shuffle=True, random_state=0).split(known))
        errors = [
            sum(
                np.sum((predict(A, y, known[train], known[held], **setting) - y[known[held]]) ** 2)
                for train, held in folds
            )
            for setting in settings
        ]
        return predict(A, y, known, unknown, **settings[int(np.argmin(errors))])

    return peer


# -- links to known nodes only ----------------------------------------------------


def mean(A: csr_array, y: Floats, known: Nodes, unknown: Nodes) -> Floats:
    """The mean of the known values."""
    return np.full((unknown.size, *y.shape[1:]), y[known].mean(axis=0))


def skg(rule: str, n_frequencies: int, learning_rate: float) -> Peer:
    """SKG as published: uncentred values, one step per node and epoch."""

    def peer(A: csr_array, y: Floats, known: Nodes, unknown: Nodes) -> Floats:
        model = SKGRegressor(
            sigma2=rule, n_frequencies=n_frequencies, learning_rate=learning_rate, random_state=0
        )
        model.fit(A[known][:, known], y[known])
        return model.predict(A[unknown][:, known])

    return peer


def _kernel_ridge(
    A: csr_array, y: Floats, known: Nodes, unknown: Nodes, *, scale: float, alpha: float
) -> Any:
    """Ridge with a Gaussian kernel whose σ² is a multiple of the mean squared distance."""
    X, new = A[known][:, known].toarray(), A[unknown][:, known].toarray()
    spread = 2.0 * X.var(axis=0).sum() or 1.0
    centre = y[known].mean()
    model = KernelRidge(kernel="rbf", gamma=1.0 / (2.0 * scale * spread), alpha=alpha)
    return centre + model.fit(X, y[known] - centre).predict(new)


kernel_ridge = tuned(
    _kernel_ridge,
    {"scale": (0.05, 0.2, 0.5, 2.0, 8.0, 32.0), "alpha": (1e-3, 1e-2, 0.1, 1.0)},
)


def gaussian_process(A: csr_array, y: Floats, known: Nodes, unknown: Nodes) -> Any:
    """Gaussian process with noise, tuned by its own likelihood from two starts."""
    X, new = A[known][:, known].toarray(), A[unknown][:, known].toarray()
    length = float(np.sqrt(X.var(axis=0).sum())) or 1.0
    kernel = ConstantKernel(1.0) * RBF(length, (length / 30, length * 100)) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a parameter at its bound
        return model.fit(X, y[known]).predict(new)


# -- the whole graph ----------------------------------------------------------------


def undirected(A: csr_array) -> csr_array:
    """A + Aᵀ without loops."""
    S = csr_array(A + A.T)
    S.setdiag(0.0)
    S.eliminate_zeros()
    return S


def _dirichlet(A: csr_array, y: Floats, known: Nodes, unknown: Nodes, *, n_iter: int) -> Any:
    """scikit-network: heat spreads over edges from known nodes that keep their values."""
    from sknetwork.regression import Dirichlet

    S = undirected(A)
    known_values = {int(node): float(y[node]) for node in known}
    found = Dirichlet(n_iter).fit_predict(csr_matrix(S), known_values)
    # It leaves 0 where no known node can be reached.
    _, part = connected_components(S, directed=False)
    return np.where(np.isin(part, part[known]), found, y[known].mean())[unknown]


dirichlet = tuned(_dirichlet, {"n_iter": (1, 3, 10, 30, 100)})


def tikhonov_at(A: csr_array, y: Floats, known: Nodes, unknown: Nodes, *, tau: float) -> Any:
    """PyGSP: least squares at the known nodes, and τ times the roughness along edges.

    Values are centred: a part of the graph without known nodes then gets the mean.
    """
    from pygsp import graphs, learning

    n = A.shape[0]
    graph = graphs.Graph(csr_matrix(undirected(A)))
    centre = y[known].mean(axis=0)
    mask = np.zeros(n, dtype=bool)
    mask[known] = True
    signal = np.where(mask.reshape(-1, *[1] * (y.ndim - 1)), y - centre, 0.0)
    return centre + learning.regression_tikhonov(graph, signal, mask, tau)[unknown]


tikhonov = tuned(tikhonov_at, {"tau": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)})


def spectral_features(A: csr_array, n_vectors: int) -> Floats:
    """Log degrees (out, in, neighbours' mean) and the smoothest vectors of the Laplacian."""
    S = undirected(A)
    degree = S.sum(axis=1)
    shrink = diags_array(1.0 / np.sqrt(np.maximum(degree, 1e-12)))
    n_vectors = min(n_vectors, A.shape[0] - 2)
    start = np.random.default_rng(0).normal(size=A.shape[0])
    _, vectors = eigsh(csr_array(shrink @ S @ shrink), k=n_vectors, which="LA", v0=start)
    near = (S @ np.log1p(degree)) / np.maximum(degree, 1e-12)
    degrees = np.log1p([A.sum(axis=1), A.sum(axis=0)])
    return np.column_stack([*degrees, near, vectors])


_FEATURES: dict[tuple[int, int], tuple[csr_array, Floats]] = {}


def spectral(A: csr_array, n_vectors: int) -> Floats:
    """:func:`spectral_features`, computed once for all folds and settings."""
    key = (id(A), n_vectors)
    if key not in _FEATURES:
        _FEATURES[key] = A, spectral_features(A, n_vectors)  # keeping the graph keeps its id
    return _FEATURES[key][1]


def _lightgbm(
    A: csr_array,
    y: Any,
    known: Any,
    unknown: Any,
    *,
    n_vectors: int,
    smallest_leaf: int,
) -> Floats:
    """LightGBM: boosted trees on degrees and spectral features."""
    import lightgbm

    X = spectral(A, n_vectors)
    model = lightgbm.LGBMRegressor(
        n_estimators=100,
        learning_rate=0.05,
        num_leaves=15,
        min_child_samples=smallest_leaf,
        subsample=0.8,
        subsample_freq=1,
        colsample_bytree=0.5,
        random_state=0,
        n_jobs=1,
        verbose=-1,
    )
    return model.fit(X[known], y[known]).predict(X[unknown])  # type: ignore[return-value]


boosted_trees = tuned(_lightgbm, {"n_vectors": (8, 64, 128), "smallest_leaf": (3, 10)})


def convolved(
    A: csr_array,
    targets: NDArray[Any],
    known: Nodes,
    *,
    n_outputs: int,
    hidden: int,
    decay: float,
    classes: bool,
) -> Any:
    """Outputs of a graph convolutional network of two layers at all nodes.

    Inputs are a learned vector for each node (the identity matrix as features) and the degree
    and spectral features; trained at the known nodes by Adam, 200 steps, half of the units
    dropped.
    """
    import torch

    torch.manual_seed(0)
    n = A.shape[0]
    S = csr_array(undirected(A) + eye_array(n))
    shrink = diags_array(1.0 / np.sqrt(S.sum(axis=1)))
    walk = csr_array(shrink @ S @ shrink).tocoo()
    P = torch.sparse_coo_tensor(
        np.stack(walk.coords),  # type: ignore[arg-type]
        walk.data.astype(np.float32),
        (n, n),
        is_coalesced=True,
        check_invariants=False,
    )
    X = spectral(A, 16)
    X = torch.tensor(((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)).astype(np.float32))  # type: ignore[assignment]
    names = torch.nn.Embedding(n, hidden)
    first, second = torch.nn.Linear(X.shape[1], hidden), torch.nn.Linear(hidden, n_outputs)
    layers = torch.nn.ModuleList([names, first, second])
    rule = torch.optim.Adam(layers.parameters(), lr=0.01, weight_decay=decay)
    loss = torch.nn.CrossEntropyLoss() if classes else torch.nn.MSELoss()
    goal = torch.tensor(targets[known] if classes else targets[known].astype(np.float32))
    known_nodes = torch.tensor(known)

    def outputs(training: bool) -> Any:
        inner = torch.relu(torch.sparse.mm(P, names.weight + first(X)))
        inner = torch.nn.functional.dropout(inner, 0.5, training)
        return torch.sparse.mm(P, second(inner))

    for _ in range(200):
        rule.zero_grad()
        loss(outputs(True)[known_nodes], goal).backward()
        rule.step()
    with torch.no_grad():
        return outputs(False).numpy().astype(np.float64)


def _gcn(
    A: csr_array, y: Floats, known: Nodes, unknown: Nodes, *, hidden: int, decay: float
) -> Any:
    """A graph convolutional network of values with mean 0 and spread 1."""
    centre, spread = y[known].mean(), y[known].std() or 1.0
    scaled = ((y - centre) / spread)[:, np.newaxis]
    found = convolved(A, scaled, known, n_outputs=1, hidden=hidden, decay=decay, classes=False)
    return centre + spread * found[unknown, 0]


gcn = tuned(_gcn, {"hidden": (32,), "decay": (5e-4, 5e-3, 2e-2)})

SAME_ROWS: dict[str, PackagedPeer] = {
    "KernelRidge, same rows": PackagedPeer(kernel_ridge),
    "GaussianProcessRegressor, same rows": PackagedPeer(gaussian_process),
}
WHOLE_GRAPH: dict[str, PackagedPeer] = {
    "scikit-network Dirichlet": PackagedPeer(dirichlet, "sknetwork"),
    "PyGSP Tikhonov": PackagedPeer(tikhonov, "pygsp"),
    "LightGBM, degree + spectral": PackagedPeer(boosted_trees, "lightgbm"),
    "GCN": PackagedPeer(gcn, "torch"),
}
