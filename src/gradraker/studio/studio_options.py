"""Options of a studio besides the model, and the demo of Swiss stations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gradraker.datasets import GraphDataset, load_temperature
from gradraker.live.demo_stream import DemoStream
from gradraker.models import NodeModel, NodeRegressor

_N_KNOWN = 36  # 40 % of the stations, as in the paper


@dataclass(frozen=True)
class StudioOptions:
    """What a page shows besides the graph, values and predictions."""

    title: str = "gradraker studio"
    unit: str = ""  # of the values, for legends and axes
    # Coordinates of nodes by name: x to the right, y upwards. Default: those among the attributes
    # of the model.
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    position_names: tuple[str, str] = ("x", "y")  # names of the axes
    # A graph with all values, for the page about σ²; default the known nodes.
    dataset: GraphDataset | None = None
    stream: DemoStream | None = None  # controlled by the page
    cache: Path | None = None  # folder of layouts; default the user's cache folder


def describe_stations() -> StudioOptions:
    """Return the options for the stations, without values."""
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
    """Return a model of some known stations, and the options of the studio."""
    data = load_temperature("jan")
    order = np.random.default_rng(0).permutation(data.n_nodes)[:_N_KNOWN]
    known = {data.node_names[i]: float(data.values[i]) for i in order.tolist()}
    options = replace(
        describe_stations(),
        title="January at 89 Swiss weather stations",
        dataset=data,
        stream=DemoStream(is_on=False),
    )
    return NodeRegressor().fit(data, known), options
