"""Graphs with values that are smooth along edges, and graphs where neighbours differ."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, kron

from gradraker import datasets

Signal = tuple[csr_array, np.ndarray]


def smooth(n_nodes: Any, seed: Any) -> dict[str, Signal]:
    """The library's families of graphs."""
    makers = {
        "threshold": datasets.make_threshold_graph,
        "geometric": datasets.make_geometric_graph,
        "block": datasets.make_block_graph,
        "preferential": datasets.make_preferential_graph,
    }
    found = {name: make(n_nodes, random_state=seed) for name, make in makers.items()}  # type: ignore[operator]
    return {name: (data.adjacency, data.scale_values()) for name, data in found.items()}


def not_smooth(n_nodes: int, seed: int) -> dict[str, Signal]:
    """Values that differ between neighbours, that follow degrees, or that follow nothing."""
    rng = np.random.default_rng(seed)
    noise = 0.1 * rng.normal(size=n_nodes)
    side = int(np.sqrt(n_nodes))
    path = diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1], shape=(side, side))
    grid = csr_array(kron(path, np.eye(side)) + kron(np.eye(side), path))
    square = np.add.outer(np.arange(side), np.arange(side)).ravel() % 2
    ring = np.roll(np.eye(n_nodes), 1, axis=1)
    team = rng.integers(0, 2, n_nodes)
    across = _random_links(np.where(team[:, np.newaxis] != team, 12.0, 0.8) / n_nodes, rng)
    third = rng.integers(0, 3, n_nodes)
    follows = (third[:, np.newaxis] + 1) % 3 == third
    cycle = rng.random((n_nodes, n_nodes)) < np.where(follows, 12.0, 1.2) / n_nodes
    linked, _ = smooth(n_nodes, seed)["preferential"]
    degree = linked.sum(axis=1)
    near = (linked @ np.log(degree)) / degree
    values = {
        "ring, signs alternate": (csr_array(ring + ring.T), np.arange(n_nodes) % 2 + noise),
        "grid, signs alternate": (grid, square + noise[: square.size]),
        "two teams, links across": (across, team + noise),
        "three teams in a cycle, directed": (csr_array(cycle.astype(float)), third + noise),
        "preferential, log degree": (linked, np.log(degree) + noise),
        "preferential, neighbours' degrees": (linked, near + 0.5 * noise),
        "preferential, random values": (linked, rng.random(n_nodes)),
        "geometric, random values": (smooth(n_nodes, seed)["geometric"][0], rng.random(n_nodes)),
    }
    return {name: (graph, _scaled(value)) for name, (graph, value) in values.items()}


def _random_links(chances: np.ndarray, rng: np.random.Generator) -> csr_array:
    upper = np.triu(rng.random(chances.shape) < chances, 1)
    return csr_array((upper | upper.T).astype(float))


def _scaled(values: np.ndarray) -> Any:
    return (values - values.min()) / np.ptp(values)
