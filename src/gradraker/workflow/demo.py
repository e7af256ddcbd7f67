"""The demonstration: learn Swiss temperatures at some stations, predict the others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradraker.datasets import GraphDataset, load_temperature, split_nodes
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.metrics import gnmse
from gradraker.models import NodeRegressor, SKGRegressor

KNOWN_FRACTION = 0.4
ATTRIBUTION = "Source: MeteoSwiss"
_N_REASONS = 5


@dataclass(frozen=True)
class StationPrediction:
    """What was predicted for one station, in °C."""

    station: str
    altitude_m: float
    true_c: float
    predicted_c: float
    error_c: float


@dataclass(frozen=True)
class Reason:
    """A known station that counts in a prediction, with its weight and its value in °C."""

    station: str
    weight: float
    value_c: float


@dataclass(frozen=True)
class ExplainedStation:
    """What a method predicts for a station, in °C, and the known stations that count most."""

    method: str
    station: str
    true_c: float
    predicted_c: float
    reasons: tuple[Reason, ...]


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
    explained: tuple[ExplainedStation, ...]


@dataclass(frozen=True, eq=False)
class DemoResult:
    """The summary, and per station what a figure needs."""

    summary: DemoSummary
    altitude_m: NDArray[np.float64]
    true_c: NDArray[np.float64]
    predicted_c: NDArray[np.float64]  # by SKG; NaN at sampled stations
    by_node_model_c: NDArray[np.float64]  # the same by the node model
    sampled: NDArray[np.bool_]
    stations: list[str]
    edges: list[tuple[str, str]]


def run_demo(*, seed: int) -> DemoResult:
    """Fit a node model and SKG on 40 % of the stations, drawn by ``seed``; predict the others.

    Both predictions of the highest station that is unknown are explained.
    """
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
    node_model = NodeRegressor(random_state=seed).fit(data.adjacency, known)
    y_node_model = node_model.predict(tested)

    low, high = data.values.min(), data.values.max()
    predicted_c, by_node_model_c = np.full((2, data.n_nodes), np.nan)
    predicted_c[tested] = low + (high - low) * y_pred
    by_node_model_c[tested] = low + (high - low) * y_node_model
    top = tested[int(np.argmax(altitude[tested]))]
    explanations = {
        "node model": (node_model.explain([top]), by_node_model_c[top]),
        "SKG": (model.explain(vectors[[top]], known_names=sampled.tolist()), predicted_c[top]),
    }
    is_sampled = np.zeros(data.n_nodes, dtype=np.bool_)
    is_sampled[sampled] = True

    ranked = _rank_stations(data, altitude, predicted_c, tested)
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
        gnmse_of_node_model=gnmse(y[tested], y_node_model),
        best=tuple(ranked[:3]),
        worst=tuple(ranked[:-4:-1]),  # the worst one first
        explained=_explain_station(data, top, explanations),
    )
    names = [str(name) for name in data.node_names]
    ends = data.adjacency.tocoo().coords
    return DemoResult(
        summary,
        altitude,
        data.values,
        predicted_c,
        by_node_model_c,
        is_sampled,
        stations=names,
        edges=[(names[i], names[j]) for i, j in zip(*ends, strict=True) if i <= j],
    )


def _explain_station(
    data: GraphDataset, station: int, explanations: dict[str, tuple[LinearExplanation, float]]
) -> tuple[ExplainedStation, ...]:
    return tuple(
        ExplainedStation(
            method=method,
            station=data.node_names[station],
            true_c=float(data.values[station]),
            predicted_c=float(guess),
            reasons=_list_reasons(found, data),
        )
        for method, (found, guess) in explanations.items()
    )


def _rank_stations(
    data: GraphDataset,
    altitude: NDArray[np.float64],
    predicted_c: NDArray[np.float64],
    tested: NDArray[np.intp],
) -> list[StationPrediction]:
    """Return what was predicted for each unknown station, the smallest error first."""
    errors = predicted_c - data.values
    return [
        StationPrediction(
            station=data.node_names[node],
            altitude_m=float(altitude[node]),
            true_c=float(data.values[node]),
            predicted_c=float(predicted_c[node]),
            error_c=float(errors[node]),
        )
        for node in tested[np.argsort(np.abs(errors)[tested], kind="stable")]
    ]


def _list_reasons(found: LinearExplanation, data: GraphDataset) -> tuple[Reason, ...]:
    heaviest = found.find_heaviest(_N_REASONS)[0].tolist()
    stations = [int(str(found.known_names[i])) for i in heaviest]
    return tuple(
        Reason(data.node_names[station], float(found.weights[0, i]), float(data.values[station]))
        for i, station in zip(heaviest, stations, strict=True)
    )
