"""A stream that arrives by itself: a year passes at Swiss weather stations, again and again."""

import asyncio
from itertools import count

import numpy as np

from gradraker.datasets import load_temperature_normals
from gradraker.live.journal import Submission
from gradraker.live.journal.changes import Change
from gradraker.live.service import NotKeptError, NotReadyError, Service, TooBusyError
from gradraker.models import NodeModel, NodeRegressor

KNOWN_AT_FIRST = 20


def make_demo_model() -> NodeModel:
    """Return a model that knows the January temperatures of some stations."""
    data, series = load_temperature_normals()
    order = np.random.default_rng(0).permutation(len(data.node_names))[:KNOWN_AT_FIRST]
    return NodeRegressor().fit(data, {data.node_names[i]: float(series[0, i]) for i in order})


async def stream_temperatures(service: Service, *, seconds: float = 1.0) -> None:
    """Put a temperature every second: January at all stations, then February, and so on."""
    data, series = load_temperature_normals()
    rng = np.random.default_rng(1)
    for month in count():
        for i in rng.permutation(len(data.node_names)).tolist():
            value = float(series[month % len(series), i])
            change = Change("put_value", data.node_names[i], value=value)
            await asyncio.sleep(seconds)
            try:
                await service.submit(Submission((change,)))
            except (TooBusyError, NotReadyError, NotKeptError):
                continue
