"""Graphs that join nodes which are near each other: on a line, in a square, in time."""

import numpy as np
import scipy.sparse as sp

from gradraker._validation import check_count, check_generator, check_number
from gradraker.datasets.dataset import GraphDataset
from gradraker.datasets.generators.assembly import Floats, Indices, RandomState, build_adjacency


def make_threshold_graph(
    n_nodes: int = 400,
    *,
    threshold: float = 0.05,
    frequency: float = 0.5,
    noise: float = 0.05,
    weighted: bool = False,
    self_loops: bool = True,
    random_state: RandomState = None,
) -> GraphDataset:
    """Make a graph that joins nodes whose hidden positions on a line are close.

    It imitates :func:`~gradraker.load_temperature`: the position u, uniform on [0, 1], stands
    for the altitude. The value is cos(2π · frequency · u) plus noise.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    threshold : float
        Two nodes are joined if their positions differ by less than this.
    frequency : float
        Periods of the value along the line. Values are smooth along edges while
        ``frequency * threshold`` is far below 1/2; at 1/2 the two ends of the longest
        edges have opposite values.
    noise : float
        Standard deviation of the Gaussian noise added to the values.
    weighted : bool
        If true, an edge weighs exp(-difference/threshold); otherwise it weighs 1.
    self_loops : bool
        Whether each node is joined to itself, with weight 1.
    random_state : int, numpy.random.Generator or None
        Seed or source of the draw.

    Returns
    -------
    GraphDataset
        Undirected. ``positions`` has one column, the hidden position.

    Examples
    --------
    >>> from gradraker.datasets import make_threshold_graph
    >>> data = make_threshold_graph(100, random_state=0)
    >>> data.n_nodes, data.position_names
    (100, ('position',))
    """
    n_nodes = check_count("n_nodes", n_nodes)
    threshold = check_number("threshold", threshold, low=0.0, above=True)
    frequency = check_number("frequency", frequency, low=0.0)
    noise = check_number("noise", noise, low=0.0)
    rng = check_generator(random_state)
    position = rng.random(n_nodes)
    source, target = _find_close_pairs(position[:, np.newaxis], threshold)
    gap = np.abs(position[source] - position[target])
    close = gap < threshold
    source, target, gap = source[close], target[close], gap[close]
    return GraphDataset(
        _join(n_nodes, source, target, gap / threshold, weighted=weighted, self_loops=self_loops),
        np.cos(2.0 * np.pi * frequency * position) + noise * rng.standard_normal(n_nodes),
        name="Threshold",
        positions=position[:, np.newaxis],
        position_names=("position",),
        description=(
            "Generated nodes at random positions on a line; an edge joins nodes closer than "
            f"{threshold:g}; the value is cos(2π·{frequency:g}·position) plus noise {noise:g}"
        ),
    )


def make_geometric_graph(
    n_nodes: int = 400,
    *,
    radius: float = 0.1,
    frequency: float = 0.5,
    noise: float = 0.05,
    weighted: bool = False,
    self_loops: bool = False,
    random_state: RandomState = None,
) -> GraphDataset:
    """Make a random geometric graph: points of the unit square, joined if they are close.

    The value at (x, y) is cos(2π · frequency · x) · cos(2π · frequency · y) plus noise.

    Parameters
    ----------
    n_nodes, noise, self_loops, random_state
        As in :func:`make_threshold_graph`.
    radius : float
        Two nodes are joined if they are at most this far apart.
    frequency : float
        Periods of the value along each side. Values are smooth along edges while
        ``frequency * radius`` is far below 1/2.
    weighted : bool
        If true, an edge weighs exp(-distance/radius); otherwise it weighs 1.

    Returns
    -------
    GraphDataset
        Undirected. ``positions`` has the columns x and y.

    Examples
    --------
    >>> from gradraker.datasets import make_geometric_graph
    >>> data = make_geometric_graph(100, radius=0.2, random_state=0)
    >>> bool((data.adjacency != data.adjacency.T).nnz)
    False
    """
    n_nodes = check_count("n_nodes", n_nodes)
    radius = check_number("radius", radius, low=0.0, above=True)
    frequency = check_number("frequency", frequency, low=0.0)
    noise = check_number("noise", noise, low=0.0)
    rng = check_generator(random_state)
    points = rng.random((n_nodes, 2))
    source, target = _find_close_pairs(points, radius)
    gap = np.hypot(*(points[source] - points[target]).T)
    return GraphDataset(
        _join(n_nodes, source, target, gap / radius, weighted=weighted, self_loops=self_loops),
        _evaluate_wave(points, frequency) + noise * rng.standard_normal(n_nodes),
        name="Geometric",
        positions=points,
        position_names=("x", "y"),
        description=(
            "Generated nodes at random points of the unit square; an edge joins points at most "
            f"{radius:g} apart; the value is a wave of frequency {frequency:g} plus noise {noise:g}"
        ),
    )


def make_arriving_graph(
    n_nodes: int = 400,
    *,
    radius: float = 0.2,
    lifetime: float | None = None,
    frequency: float = 0.5,
    drift: float = 0.0,
    noise: float = 0.05,
    weighted: bool = False,
    directed: bool = True,
    random_state: RandomState = None,
) -> GraphDataset:
    """Make a graph that grows: nodes arrive over time and link to earlier ones.

    Arrival times are those of a Poisson process, given that n nodes arrive between time 0
    and 1. A newcomer at a random point of the unit square links to the earlier nodes around
    it. The value at (x, y) and time t is cos(2π · frequency · (x - drift · t)) ·
    cos(2π · frequency · y) plus noise.

    Parameters
    ----------
    n_nodes, noise, random_state
        As in :func:`make_threshold_graph`.
    radius : float
        A newcomer links to earlier nodes at most this far away.
    lifetime : float, optional
        If given, a newcomer links only to nodes that arrived at most this long before.
    frequency : float
        Periods of the value along each side of the square.
    drift : float
        How far the wave of values moves along x between time 0 and 1. With 0, the function
        to learn does not change over time.
    weighted : bool
        If true, a link weighs exp(-distance/radius); otherwise it weighs 1.
    directed : bool
        If true, a row holds links to earlier nodes only, so that it is complete when the
        node arrives and never changes. If false, links count in both rows.

    Returns
    -------
    GraphDataset
        Nodes are in the order of arrival. ``positions`` has the columns arrival_time, x, y.

    Examples
    --------
    >>> from gradraker.datasets import make_arriving_graph
    >>> data = make_arriving_graph(50, random_state=0)
    >>> data.position_names
    ('arrival_time', 'x', 'y')

    The graph as it was when the first 20 nodes had arrived:

    >>> data.adjacency[:20, :20].shape
    (20, 20)
    """
    n_nodes = check_count("n_nodes", n_nodes)
    radius = check_number("radius", radius, low=0.0, above=True)
    if lifetime is not None:
        lifetime = check_number("lifetime", lifetime, low=0.0, above=True)
    frequency = check_number("frequency", frequency, low=0.0)
    drift = check_number("drift", drift)
    noise = check_number("noise", noise, low=0.0)
    rng = check_generator(random_state)
    arrival = np.sort(rng.random(n_nodes))
    points = rng.random((n_nodes, 2))
    earlier, later = _find_close_pairs(points, radius)
    if lifetime is not None:
        is_recent = arrival[later] - arrival[earlier] <= lifetime
        earlier, later = earlier[is_recent], later[is_recent]
    distance = np.hypot(*(points[earlier] - points[later]).T)
    weight = np.exp(-distance / radius) if weighted else np.ones_like(distance)
    relative_to_wave = points - drift * np.outer(arrival, [1.0, 0.0])  # [n, 2]
    return GraphDataset(
        build_adjacency(n_nodes, later, earlier, weight, directed=directed),
        _evaluate_wave(relative_to_wave, frequency) + noise * rng.standard_normal(n_nodes),
        name="Arriving",
        positions=np.column_stack([arrival, points]),
        position_names=("arrival_time", "x", "y"),
        description=(
            "Generated nodes that arrive over time at random points of the unit square; an edge "
            f"leads from a newcomer to each earlier node at most {radius:g} away; the value is a "
            f"wave of frequency {frequency:g} that moves by {drift:g}, plus noise {noise:g}"
        ),
    )


def _evaluate_wave(points: Floats, frequency: float) -> Floats:
    waves: Floats = np.cos(2.0 * np.pi * frequency * points)  # [n, 2]
    return waves[:, 0] * waves[:, 1]


def _find_close_pairs(points: Floats, radius: float) -> tuple[Indices, Indices]:
    """Each pair of points at most ``radius`` apart, once, smaller number first."""
    from scipy.spatial import cKDTree  # takes longer to import than the rest of this package

    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray").astype(np.int64)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return pairs[:, 0], pairs[:, 1]


def _join(
    n_nodes: int,
    source: Indices,
    target: Indices,
    relative_distance: Floats,
    *,
    weighted: bool,
    self_loops: bool,
) -> sp.csr_array:
    weight = np.exp(-relative_distance) if weighted else np.ones_like(relative_distance)
    adjacency = build_adjacency(n_nodes, source, target, weight, directed=False)
    return (adjacency + sp.eye_array(n_nodes, format="csr")).tocsr() if self_loops else adjacency
