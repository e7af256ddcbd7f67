"""The demo: January at Swiss weather stations, on a map of their coordinates."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradraker.datasets import load_temperature
from gradraker.live.demo_stream import DemoStream
from gradraker.models import NodeRegressor
from gradraker.studio.studio_options import StudioOptions

if TYPE_CHECKING:
    from gradraker.models import NodeModel

_KNOWN_AT_FIRST = 36  # 40 % of the stations, as in the paper


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


def make_demo() -> "tuple[NodeModel, StudioOptions]":
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
