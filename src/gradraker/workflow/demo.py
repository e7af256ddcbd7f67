"""The demonstration: learn Swiss temperatures at some stations, predict the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.datasets import GraphDataset, load_temperature, split_nodes
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.metrics import gnmse
from gradraker.models import NodeRegressor, SKGRegressor

KNOWN_FRACTION = 0.4
ATTRIBUTION = "Source: MeteoSwiss"
_N_REASONS = 5


@dataclass(frozen=True, eq=False)
class DemoResult:
    """The numbers that the demo reports, as JSON can hold them, and what a figure needs.

    GNMSE is on values scaled to [0, 1]; temperatures of stations are in °C.
    """

    summary: dict[str, Any]
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
    summary = {
        "dataset": data.name,
        "source": ATTRIBUTION,
        "seed": seed,
        "n_nodes": data.n_nodes,
        "n_edges": data.n_edges,
        "n_sampled": len(sampled),
        "n_tested": len(tested),
        "sigma2": float(model.sigma2_),
        "sigma2_rule": rule,
        "gnmse": gnmse(y[tested], y_pred),
        "gnmse_of_mean": gnmse(y[tested], mean),
        "gnmse_of_node_model": gnmse(y[tested], y_node_model),
        "best": ranked[:3],
        "worst": ranked[:-4:-1],  # the worst one first
        "explained": [
            {"method": method, **_describe_station(data, top, *explained)}
            for method, explained in explanations.items()
        ],
    }
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


def _rank_stations(
    data: GraphDataset,
    altitude: NDArray[np.float64],
    predicted_c: NDArray[np.float64],
    tested: NDArray[np.intp],
) -> list[dict[str, Any]]:
    """Return what was predicted for each unknown station, the smallest error first."""
    errors = predicted_c - data.values
    return [
        {
            "station": data.node_names[node],
            "altitude_m": float(altitude[node]),
            "true_c": float(data.values[node]),
            "predicted_c": float(predicted_c[node]),
            "error_c": float(errors[node]),
        }
        for node in tested[np.argsort(np.abs(errors)[tested], kind="stable")]
    ]


def _describe_station(
    data: GraphDataset, top: int, found: LinearExplanation, guess: float
) -> dict[str, Any]:
    """Return a station with its prediction and the known stations that count most in it."""
    heaviest = found.find_heaviest(_N_REASONS)[0].tolist()
    stations = [int(str(found.known_names[i])) for i in heaviest]
    return {
        "station": data.node_names[top],
        "true_c": float(data.values[top]),
        "predicted_c": float(guess),
        "reasons": [
            {
                "station": data.node_names[station],
                "weight": float(found.weights[0, i]),
                "value_c": float(data.values[station]),
            }
            for i, station in zip(heaviest, stations, strict=True)
        ],
    }
