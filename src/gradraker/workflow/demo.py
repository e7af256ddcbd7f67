"""The demonstration: learn Swiss temperatures at some stations, predict the others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradraker.datasets import load_temperature, split_nodes
from gradraker.metrics import gnmse
from gradraker.models import NodeRegressor, SKGRegressor

KNOWN_FRACTION = 0.4
ATTRIBUTION = "Source: MeteoSwiss"


@dataclass(frozen=True)
class StationPrediction:
    """What was predicted for one station, in °C."""

    station: str
    altitude_m: float
    true_c: float
    predicted_c: float
    error_c: float


@dataclass(frozen=True)
class DemoSummary:
    """The numbers that the demo reports; GNMSE is on values scaled to [0, 1]."""

    dataset: str
    source: str
    seed: int
    n_nodes: int
    n_edges: int
    n_sampled: int
    n_tested: int
    sigma2: float
    sigma2_rule: str
    gnmse: float
    gnmse_of_mean: float
    gnmse_of_node_model: float
    best: tuple[StationPrediction, ...]
    worst: tuple[StationPrediction, ...]


@dataclass(frozen=True, eq=False)
class DemoResult:
    """The summary, and per station what a figure needs."""

    summary: DemoSummary
    altitude_m: NDArray[np.float64]
    true_c: NDArray[np.float64]
    predicted_c: NDArray[np.float64]  # NaN at sampled stations
    sampled: NDArray[np.bool_]


def run_demo(*, seed: int) -> DemoResult:
    """Fit on 40 % of the stations, drawn by ``seed``, and predict the others."""
    data = load_temperature("jan")
    assert data.positions is not None
    altitude = data.positions[:, data.position_names.index("altitude_m")]
    y = data.scale_values()
    sampled, tested = split_nodes(data.n_nodes, KNOWN_FRACTION, np.random.default_rng(seed))
    vectors = data.adjacency[:, sampled]  # the sampled nodes are the referencing nodes

    rule = "theory"
    model = SKGRegressor(
        sigma2=rule, n_frequencies=200, learning_rate=0.1, n_epochs=3, random_state=seed
    )
    model.fit(vectors[sampled], y[sampled])
    y_pred = np.asarray(model.predict(vectors[tested]), dtype=np.float64)
    mean = np.full(len(tested), y[sampled].mean())
    known = np.full(data.n_nodes, np.nan)
    known[sampled] = y[sampled]
    by_node_model = NodeRegressor(random_state=seed).fit(data.adjacency, known)

    low, high = data.values.min(), data.values.max()
    predicted_c = np.full(data.n_nodes, np.nan)
    predicted_c[tested] = low + (high - low) * y_pred
    is_sampled = np.zeros(data.n_nodes, dtype=np.bool_)
    is_sampled[sampled] = True

    by_error = tested[np.argsort(np.abs(predicted_c - data.values)[tested], kind="stable")]
    ranked = [
        StationPrediction(
            station=data.node_names[node],
            altitude_m=float(altitude[node]),
            true_c=float(data.values[node]),
            predicted_c=float(predicted_c[node]),
            error_c=float(predicted_c[node] - data.values[node]),
        )
        for node in by_error
    ]
    summary = DemoSummary(
        dataset=data.name,
        source=ATTRIBUTION,
        seed=seed,
        n_nodes=data.n_nodes,
        n_edges=data.n_edges,
        n_sampled=len(sampled),
        n_tested=len(tested),
        sigma2=float(model.sigma2_),
        sigma2_rule=rule,
        gnmse=gnmse(y[tested], y_pred),
        gnmse_of_mean=gnmse(y[tested], mean),
        gnmse_of_node_model=gnmse(y[tested], by_node_model.predict(tested)),
        best=tuple(ranked[:3]),
        worst=tuple(ranked[:-4:-1]),  # the worst one first
    )
    return DemoResult(summary, altitude, data.values, predicted_c, is_sampled)
