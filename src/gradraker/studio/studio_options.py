"""What a studio is told about its data, besides the model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradraker.datasets import GraphDataset
    from gradraker.live.demo_stream import DemoStream


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
    dataset: "GraphDataset | None" = None
    stream: "DemoStream | None" = None  # values that arrive when the page asks for them
    cache: Path | None = None  # folder that keeps layouts; default the user's cache folder
