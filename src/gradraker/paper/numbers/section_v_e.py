"""Beside figure 6: distances of Wikipedia without its visits (V.E), classes of Cora (VI.C)."""

from itertools import permutations
from typing import Any

import numpy as np

from gradraker.kernels import extreme_squared_distances
from gradraker.paper.claims import ClaimList
from gradraker.paper.paper_data import DATA, Floats, PaperGraph
from gradraker.paper.paper_sweeps import SWEEPS
from gradraker.paper.plan import Results, RunOptions, Settings, Simulation
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import compare_boundary, compare_spread


def simulate_distances(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Find the smallest nonzero and the largest ‖d‖² of known nodes, over repeats."""
    found = []
    for split in graph.draw_splits(settings, options.seed):
        extremes = extreme_squared_distances(split.X[split.known])
        found.append([extremes.smallest_nonzero, extremes.largest])
    return {"squared_distances": found}


DISTANCES = Simulation(
    "distances-wikipedia",
    "wikipedia",
    {"fraction": 0.4, "n_repeats": 50},
    simulate_distances,
    lambda results, _: np.array(results["squared_distances"], dtype=np.float64),
    needs_values=False,
)


def simulate_numberings(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Compute the smallest mean GNMSE for every numbering of the classes.

    Predictions are linear in the values, so those for any numbering c of the classes follow from
    predictions of class membership H with errors E: ‖E c‖² / ‖H c‖². One training per variance
    is enough. The first numbering is that of the data set.
    """
    data = graph.dataset
    assert data is not None
    classes, class_of_node = np.unique(data.values, return_inverse=True)
    H = np.eye(classes.size)[class_of_node]  # [n, C]
    numberings = np.array(list(permutations(range(classes.size)))) / (classes.size - 1.0)  # [C!, C]
    errors = np.zeros((len(settings["sigma2"]), len(numberings)))  # [S, C!]
    for split in graph.draw_splits(settings, options.seed):
        for s, sigma2 in enumerate(settings["sigma2"]):
            model = split.fit_learner(H, settings, sigma2=sigma2)
            true = H[split.unknown]
            E = true - model.predict(split.X[split.unknown])  # [n_unknown, C]
            errors[s] += _sum_squares(numberings, E) / _sum_squares(numberings, true)
    smallest = errors.min(axis=0) / settings["n_repeats"]
    return {
        "n_numberings": int(smallest.size),
        "ours": float(smallest[0]),
        "smallest": float(smallest.min()),
        "median": float(np.median(smallest)),
        "largest": float(smallest.max()),
        "part_above": float(np.mean(smallest > settings["limit"])),
    }


def _sum_squares(numberings: Floats, H: Floats) -> Floats:
    """Compute ‖H c‖² for each row c of ``numberings``."""
    return np.asarray(np.einsum("pi,ij,pj->p", numberings, H.T @ H, numberings, optimize=True))


NUMBERINGS: Simulation[Any] = Simulation(
    "numberings-cora",
    "cora",
    {
        "fraction": 0.4,
        "sigma2": [0.5, 1.0, 2.0, 3.0, 5.0, 10.0],
        "n_repeats": 3,
        **DATA["cora"].learner_settings,
        "limit": 0.35,
    },
    simulate_numberings,
)

SIMULATIONS = (NUMBERINGS, DISTANCES)


def describe_numberings(results: PaperResults) -> str:
    """Say why the error on Cora-Con may differ from the paper's."""
    text = (
        " The paper does not say how the classes are numbered; ours are in the order of the data."
    )
    if not results.has(NUMBERINGS.name):
        return text
    found = results.get(NUMBERINGS)
    return (
        f"{text} Over all {found['n_numberings']} numberings the smallest GNMSE goes from "
        f"{found['smallest']:.2f} to {found['largest']:.2f}, and is above 0.35 for "
        f"{100 * found['part_above']:.0f} % of them."
    )


def _select_distances(results: PaperResults) -> Floats:
    sweep = SWEEPS["wikipedia"]
    if results.has(sweep.name):
        return results.get(sweep).squared_distances
    return results.get(DISTANCES)


CLAIMS = ClaimList(DISTANCES)
CLAIMS.add(
    "d2max-wikipedia",
    "V.E",
    "Largest ‖d‖², Wikipedia-Math-Daily",
    DATA["wikipedia"].largest_distance,
    compare_spread(DISTANCES, lambda distances: distances[:, 1]),
)
CLAIMS.add(
    "sigma2-ed-wikipedia",
    "V.E",
    "σ²_ed, Wikipedia-Math-Daily",
    DATA["wikipedia"].sigma2_ed,
    compare_boundary("wikipedia", "ed", _select_distances),
)
