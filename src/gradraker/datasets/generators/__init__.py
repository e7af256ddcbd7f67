"""Seeded random graphs with a signal on their nodes.

:mod:`.spatial` joins nodes that are near each other, :mod:`.linked` draws the links
themselves. All return a :class:`~gradraker.datasets.GraphDataset` whose ``positions`` hold what the
values were made of, so that a test or a figure can compare with the truth. :mod:`.traffic`
makes values over time.
"""

from gradraker.datasets.generators.linked import make_block_graph, make_preferential_graph
from gradraker.datasets.generators.spatial import (
    make_arriving_graph,
    make_geometric_graph,
    make_threshold_graph,
)
from gradraker.datasets.generators.traffic import make_traffic_series

__all__ = [
    "make_arriving_graph",
    "make_block_graph",
    "make_geometric_graph",
    "make_preferential_graph",
    "make_threshold_graph",
    "make_traffic_series",
]
