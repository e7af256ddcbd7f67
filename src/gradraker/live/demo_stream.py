"""A demo stream: the months of a year at Swiss weather stations, repeated forever."""

import asyncio
import contextlib
from collections.abc import Iterator
from itertools import count

import numpy as np

from gradraker.datasets import load_temperature_normals
from gradraker.live.journal.changes import Change
from gradraker.live.journal.writing import Submission
from gradraker.live.service import NotKeptError, NotReadyError, Service, TooBusyError
from gradraker.models import NodeModel, NodeRegressor

N_KNOWN_AT_FIRST = 20


def make_demo_model() -> NodeModel:
    """Return a model that knows the January temperatures of some stations."""
    data, series = load_temperature_normals()
    order = np.random.default_rng(0).permutation(len(data.node_names))[:N_KNOWN_AT_FIRST]
    return NodeRegressor().fit(data, {data.node_names[i]: float(series[0, i]) for i in order})


def list_submissions() -> Iterator[Submission]:
    """Yield changes: the values of one station after the other, then the next month.

    A month begins with the values of some stations; those of the others are removed.
    """
    data, series = load_temperature_normals()
    names, rng = data.node_names, np.random.default_rng(1)
    for month in count():
        values = series[month % len(series)].tolist()
        order = rng.permutation(len(names)).tolist()
        puts = [Change("put_value", names[i], value=values[i]) for i in order]
        if month == 0:
            yield from (Submission((put,)) for put in puts)
            continue
        removed = [Change("remove_value", names[i]) for i in order[N_KNOWN_AT_FIRST:]]
        yield Submission((*removed, *puts[:N_KNOWN_AT_FIRST]))
        yield from (Submission((put,)) for put in puts[N_KNOWN_AT_FIRST:])


class DemoStream:
    """A stream of changes that can be switched on, with one per second, off, or stepped."""

    def __init__(self, *, is_on: bool) -> None:
        self._submissions = list_submissions()
        self._on = asyncio.Event()
        self.switch(is_on)

    @property
    def is_on(self) -> bool:
        """Whether values arrive automatically."""
        return self._on.is_set()

    def switch(self, is_on: bool) -> None:
        """Start or stop the stream."""
        if is_on:
            self._on.set()
        else:
            self._on.clear()

    async def step(self, service: Service) -> None:
        """Submit the next change."""
        with contextlib.suppress(TooBusyError, NotReadyError, NotKeptError):
            await service.submit(next(self._submissions))

    async def run(self, service: Service) -> None:
        """Submit changes while the stream is on, until this is cancelled."""
        while True:
            await self._on.wait()
            await self.step(service)
            await asyncio.sleep(1.0)
