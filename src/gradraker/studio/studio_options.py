"""What a studio is told about its data, besides the model; and the demo of Swiss stations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gradraker.datasets import GraphDataset, load_temperature
from gradraker.live.demo_stream import DemoStream
from gradraker.models import NodeModel, NodeRegressor

_KNOWN_AT_FIRST = 36  # 40 % of the stations, as in the paper


@dataclass(frozen=True)
class StudioOptions:
    """What a page shows besides the graph, the values and the predictions."""

    title: str = "gradraker studio"
    unit: str = ""  # of the values, for legends and axes
    # Coordinates of nodes, by their names: x to the right, y upwards. Without any, those among the
    # attributes of the model are taken.
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    position_names: tuple[str, str] = ("x", "y")  # what the coordinates are
    # A graph all of whose values are known, for the page about σ²; default the known nodes.
    dataset: GraphDataset | None = None
    stream: DemoStream | None = None  # values that arrive when the page asks for them
    cache: Path | None = None  # folder that keeps layouts; default the user's cache folder


def describe_stations() -> StudioOptions:
    """Return what a studio is told about the stations, whatever their values."""
    data = load_temperature("jan")
    assert data.positions is not None
    positions = dict(zip(data.node_names, data.positions[:, 1:].tolist(), strict=True))
    return StudioOptions(
        title="89 Swiss weather stations",
        unit="°C",
        positions={name: (east, north) for name, (east, north) in positions.items()},
        position_names=("east", "north"),
    )


def make_demo() -> tuple[NodeModel, StudioOptions]:
    """Return a model that knows some stations, and what the studio is told about them."""
    data = load_temperature("jan")
    order = np.random.default_rng(0).permutation(data.n_nodes)[:_KNOWN_AT_FIRST]
    known = {data.node_names[i]: float(data.values[i]) for i in order.tolist()}
    options = replace(
        describe_stations(),
        title="January at 89 Swiss weather stations",
        dataset=data,
        stream=DemoStream(is_on=False),
    )
    return NodeRegressor().fit(data, known), options
