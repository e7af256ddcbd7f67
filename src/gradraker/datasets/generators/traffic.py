"""Series of traffic on a network of roads: a daily cycle, and congestion that spreads."""

import numpy as np
import scipy.sparse as sp

from gradraker._validation import check_count, check_generator, check_number
from gradraker.datasets.dataset import GraphDataset
from gradraker.datasets.generators.assembly import Floats, Indices, RandomState, build_adjacency

# Rush hours, in parts of a day, and how long they last.
_RUSH = (8.0 / 24.0, 17.5 / 24.0)
_RUSH_WIDTH = 1.2 / 24.0
_LARGEST_DEMAND = 0.08
_OUTSKIRTS_EARLIER = 1.0 / 24.0


def make_traffic_series(
    n_nodes: int = 100,
    *,
    n_times: int = 480,
    times_per_day: int = 96,
    spread: float = 0.8,
    decay: float = 0.9,
    incidents: float = 0.01,
    noise: float = 0.01,
    one_way: bool = True,
    random_state: RandomState = None,
) -> tuple[GraphDataset, Floats]:
    """Make speeds of traffic over time at the places of a network of roads.

    Congestion c(t) of all places follows
    c(t + 1) = decay · ((1 − spread) c(t) + spread P c(t)) + demand(t + 1) + incidents(t + 1),
    where P takes the mean over the places that roads lead to: a jam moves backwards, to where
    its traffic comes from. Demand has a rush hour in the morning and
    one in the evening, which differ in size between places and come earlier far from the
    centre. An incident adds congestion at one place, from where it spreads along the roads. The
    value is the speed as a fraction of that on free roads, exp(−c), plus noise.

    Parameters
    ----------
    n_nodes : int
        Number of places, at random points of the unit square. Roads are the Gabriel graph: two
        places are joined if no other one lies in the circle between them, which gives
        a connected planar network with about four roads per place.
    n_times, times_per_day : int
        Number of times, from midnight on, and number per day; 96 are quarters of an hour.
    spread : float
        Part of its congestion that a place takes from the places ahead, 0 to 1. With 0, places
        do not influence each other.
    decay : float
        Part of the congestion that is left after one step, 0 to 1.
    incidents : float
        Probability of an incident at a place in one step.
    noise : float
        Standard deviation of the Gaussian noise added to the speeds.
    one_way : bool
        If true, roads lead to the place that is closer to the centre, so that jams move
        outwards; otherwise they lead both ways and jams spread all around.
    random_state : int, numpy.random.Generator or None
        Seed or source of the draw.

    Returns
    -------
    data : GraphDataset
        The roads; ``positions`` has the columns x and y, and values are mean speeds.
    series : array of shape (n_times, n_nodes)
        Speed at each time and place.

    Examples
    --------
    >>> from gradraker.datasets import make_traffic_series
    >>> data, series = make_traffic_series(50, n_times=200, random_state=0)
    >>> data
    GraphDataset('Traffic', 50 nodes, ... edges)
    >>> series.shape
    (200, 50)
    """
    n_nodes = check_count("n_nodes", n_nodes, at_least=2)
    n_times = check_count("n_times", n_times)
    times_per_day = check_count("times_per_day", times_per_day, at_least=2)
    spread = check_number("spread", spread, low=0.0, high=1.0)
    decay = check_number("decay", decay, low=0.0, high=1.0)
    incidents = check_number("incidents", incidents, low=0.0, high=1.0)
    noise = check_number("noise", noise, low=0.0)
    rng = check_generator(random_state)
    points = rng.random((n_nodes, 2))
    source, target = _find_gabriel_pairs(points)
    if one_way:
        inwards = _measure_from_centre(points[source]) < _measure_from_centre(points[target])
        source, target = np.where(inwards, target, source), np.where(inwards, source, target)
    adjacency = build_adjacency(n_nodes, source, target, np.ones(len(source)), directed=one_way)
    ahead = sp.diags_array(1.0 / np.maximum(adjacency.sum(axis=1), 1.0)) @ adjacency  # P
    # The first day is left out: the network is empty when it begins.
    day = np.arange(-times_per_day, n_times) / times_per_day
    demand = _draw_demand(day, points, rng)  # [times, n]
    sudden = rng.exponential(0.5, demand.shape) * (rng.random(demand.shape) < incidents)
    added = demand * (96.0 / times_per_day) + sudden
    congestion = np.zeros_like(added)
    for t in range(1, len(day)):
        before = congestion[t - 1]
        spreading = (1.0 - spread) * before + spread * (ahead @ before)
        congestion[t] = decay * spreading + added[t]
    speeds = np.exp(-congestion[times_per_day:])
    speeds += noise * rng.standard_normal(speeds.shape)
    data = GraphDataset(
        adjacency,
        speeds.mean(axis=0),
        name="Traffic",
        positions=points,
        position_names=("x", "y"),
        description=(
            "Generated places in the unit square, joined by roads; the value is the mean over "
            f"{n_times} times of a speed with two rush hours a day and congestion that spreads "
            f"along roads, plus noise {noise:g}"
        ),
    )
    return data, speeds


def _draw_demand(day: Floats, points: Floats, rng: np.random.Generator) -> Floats:
    """Congestion that traffic adds at each time and place in a quarter of an hour."""
    sizes = rng.uniform(0.0, _LARGEST_DEMAND, (len(_RUSH), len(points)))
    demand = np.zeros((len(day), len(points)))
    for hour, size in zip(_RUSH, sizes, strict=True):
        late = day[:, np.newaxis] + _OUTSKIRTS_EARLIER * _measure_from_centre(points) - hour
        late -= np.round(late)  # to the nearest of these rush hours
        demand += size * np.exp(-0.5 * (late / _RUSH_WIDTH) ** 2)
    return demand


def _measure_from_centre(points: Floats) -> Floats:
    distance: Floats = np.hypot(*(points - 0.5).T)  # [n]
    return distance


def _find_gabriel_pairs(points: Floats) -> tuple[Indices, Indices]:
    """Pairs of points, smaller number first, with no other point in the circle between them."""
    from scipy.spatial import Delaunay, cKDTree  # takes longer to import than the rest of this file

    # Every Gabriel pair is a side of a Delaunay triangle; fewer than 4 points make at most one.
    is_small = len(points) < 4
    corners = np.arange(len(points))[np.newaxis] if is_small else Delaunay(points).simplices
    first, second = np.triu_indices(corners.shape[1], 1)
    sides = np.concatenate([corners[:, [i, j]] for i, j in zip(first, second, strict=True)])
    sides = np.unique(np.sort(sides, axis=1), axis=0).astype(np.int64)
    low, high = sides[:, 0], sides[:, 1]
    nearest, _ = cKDTree(points).query((points[low] + points[high]) / 2.0)
    radius = np.hypot(*(points[low] - points[high]).T) / 2.0
    free = nearest > radius * (1.0 - 1e-9)  # the two ends themselves are on the circle
    return low[free], high[free]
