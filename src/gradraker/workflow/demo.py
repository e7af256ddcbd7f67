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
    """The numbers that the demo reports, ready for JSON, and the data of its figure.

    GNMSE is on values scaled to [0, 1]; temperatures of stations are in °C.
    """

    summary: dict[str, Any]
    altitude_m: NDArray[np.float64]
    true_c: NDArray[np.float64]
    predicted_c: NDArray[np.float64]  # by SKG; NaN at known stations
    by_node_model_c: NDArray[np.float64]  # the same by the node model
    is_known: NDArray[np.bool_]
    stations: list[str]
    edges: list[tuple[str, str]]


def run_demo(*, seed: int) -> DemoResult:
    """Fit a node model and SKG on 40 % of the stations, drawn by ``seed``; predict the others.

    Both predictions for the highest unknown station are explained.
    """
    data = load_temperature("jan")
    assert data.positions is not None
    altitude = data.positions[:, data.position_names.index("altitude_m")]
    y = data.scale_values()
    known, unknown = split_nodes(data.n_nodes, KNOWN_FRACTION, np.random.default_rng(seed))
    vectors = data.adjacency[:, known]  # the known nodes are the referencing nodes

    rule = "theory"
    model = SKGRegressor(
        sigma2=rule, n_frequencies=200, learning_rate=0.1, n_epochs=3, random_state=seed
    )
    model.fit(vectors[known], y[known])
    y_pred = np.asarray(model.predict(vectors[unknown]), dtype=np.float64)
    mean = np.full(len(unknown), y[known].mean())
    known_values = np.full(data.n_nodes, np.nan)
    known_values[known] = y[known]
    node_model = NodeRegressor(random_state=seed).fit(data.adjacency, known_values)
    y_node_model = node_model.predict(unknown)

    low, high = data.values.min(), data.values.max()
    predicted_c, by_node_model_c = np.full((2, data.n_nodes), np.nan)
    predicted_c[unknown] = low + (high - low) * y_pred
    by_node_model_c[unknown] = low + (high - low) * y_node_model
    top = unknown[int(np.argmax(altitude[unknown]))]
    explanations = {
        "node model": (node_model.explain([top]), by_node_model_c[top]),
        "SKG": (model.explain(vectors[[top]], known_names=known.tolist()), predicted_c[top]),
    }
    is_known = np.zeros(data.n_nodes, dtype=np.bool_)
    is_known[known] = True

    ranked = _rank_stations(data, altitude, predicted_c, unknown)
    summary = {
        "dataset": data.name,
        "source": ATTRIBUTION,
        "seed": seed,
        "n_nodes": data.n_nodes,
        "n_edges": data.n_edges,
        "n_sampled": len(known),
        "n_tested": len(unknown),
        "sigma2": float(model.sigma2_),
        "sigma2_rule": rule,
        "gnmse": gnmse(y[unknown], y_pred),
        "gnmse_of_mean": gnmse(y[unknown], mean),
        "gnmse_of_node_model": gnmse(y[unknown], y_node_model),
        "best": ranked[:3],
        "worst": ranked[:-4:-1],  # the worst first
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
        is_known,
        stations=names,
        edges=[(names[i], names[j]) for i, j in zip(*ends, strict=True) if i <= j],
    )


def _rank_stations(
    data: GraphDataset,
    altitude: NDArray[np.float64],
    predicted_c: NDArray[np.float64],
    unknown: NDArray[np.intp],
) -> list[dict[str, Any]]:
    """Return a summary of each unknown station, the smallest error first."""
    errors = predicted_c - data.values
    return [
        {
            "station": data.node_names[node],
            "altitude_m": float(altitude[node]),
            "true_c": float(data.values[node]),
            "predicted_c": float(predicted_c[node]),
            "error_c": float(errors[node]),
        }
        for node in unknown[np.argsort(np.abs(errors)[unknown], kind="stable")]
    ]


def _describe_station(
    data: GraphDataset, top: int, explanation: LinearExplanation, prediction: float
) -> dict[str, Any]:
    """Return a station with its prediction and the known stations that count most in it."""
    heaviest = explanation.find_heaviest(_N_REASONS)[0].tolist()
    stations = [int(str(explanation.known_names[i])) for i in heaviest]
    return {
        "station": data.node_names[top],
        "true_c": float(data.values[top]),
        "predicted_c": float(prediction),
        "reasons": [
            {
                "station": data.node_names[station],
                "weight": float(explanation.weights[0, i]),
                "value_c": float(data.values[station]),
            }
            for i, station in zip(heaviest, stations, strict=True)
        ],
    }
