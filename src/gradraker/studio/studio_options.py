"""What a studio is told about its data, besides the model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradraker.datasets import GraphDataset
    from gradraker.studio.stream import DemoStream


@dataclass(frozen=True)
class StudioOptions:
    """What a page shows besides the graph, the values and the predictions.

    Attributes
    ----------
    title : str
        Title of the page.
    unit : str
        Unit of the values, for legends and axes.
    positions : mapping of str to a pair of floats
        Coordinates of nodes, by their names: x to the right, y upwards. Without any, those among
        the attributes of the model are taken.
    position_names : tuple of two str
        What the coordinates are.
    dataset : GraphDataset, optional
        A graph all of whose values are known, for the page about σ²; default the known nodes.
    stream : DemoStream, optional
        Values that arrive when the page asks for them.
    cache : Path, optional
        Folder that keeps layouts; default the user's cache folder.
    """

    title: str = "gradraker studio"
    unit: str = ""
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    position_names: tuple[str, str] = ("x", "y")
    dataset: "GraphDataset | None" = None
    stream: "DemoStream | None" = None
    cache: Path | None = None
