"""The paper's simulations that are not sweeps: weights, similarity measures, pairs, distances.

Each takes a graph, settings and a seed, and returns what JSON can hold. Repeat r has the split of
repeat r of a sweep over the same graph, so figures 2 to 5 show the first repeat of figure 6a.
"""

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.kernels.distances.extremes import extreme_squared_distances
from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.paper.data import Loaded
from gradraker.sweep.repeat import draw_repeat

# Steps that are late, and the part of B that is small (section V.D on figure 3 c).
_LATE = 5
_SMALL = 0.25


def weights(loaded: Loaded, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """B, F and distances of one tested node, and predictions for all, at some variances.

    Figures 2 to 5. All variances share the split, the frequencies and the order.
    """
    data, y = loaded.dataset, loaded.values
    assert data is not None
    assert data.positions is not None
    assert y is not None
    sampled, tested, model_seed, X = _split(loaded, settings, seed, 0)
    runs = []
    for sigma2 in settings["sigma2"]:
        model = SKGRegressor(
            sigma2=sigma2,
            n_frequencies=settings["n_frequencies"],
            learning_rate=settings["learning_rate"],
            n_epochs=settings["n_epochs"],
            random_state=model_seed,
        ).fit(X[sampled], y[sampled])
        explanation = model.explain(X[tested])
        B = explanation.similarities[:, explanation.order]  # [n_tested, T]
        F = np.array([explanation.by_time_of(row) for row in range(tested.size)])  # [n_tested, T]
        row = settings["tested_node"]
        runs.append(
            {
                "sigma2": sigma2,
                "range": model.ranges_.find_range(sigma2),
                "similarities": B[row].tolist(),
                "mean_similarity": float(B.mean()),
                "weights": F[row].tolist(),
                "late_ranks": _late_ranks(B, F),
                "weights_by_node": explanation.weights[row].tolist(),
                "efficient_distance": _finite(explanation.efficient_distance(row)),
                "sums_of_weights": explanation.sum_of_weights.tolist(),
                "predictions": explanation.prediction.tolist(),
            }
        )
    return {
        "node": data.node_names[tested[settings["tested_node"]]],
        "boundaries": _boundaries(model),
        "squared_distances": explanation.squared_distances[settings["tested_node"]].tolist(),
        "order": explanation.order.tolist(),
        "epoch_ends": [len(sampled) * epoch for epoch in range(1, settings["n_epochs"])],
        "altitude_m": data.positions[tested, 0].tolist(),
        "values": y[tested].tolist(),
        "unit": [float(data.values.min()), float(data.values.max())],
        "runs": runs,
    }


def similarity(loaded: Loaded, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """B of all pairs of sampled nodes at one squared distance, over repeats (section V.C)."""
    repeats = []
    for repeat in range(settings["n_repeats"]):
        sampled, _, model_seed, X = _split(loaded, settings, seed, repeat)
        rows = X[sampled]
        model = SKGRegressor(
            sigma2=settings["sigma2"],
            n_frequencies=settings["n_frequencies"],
            n_epochs=1,
            random_state=model_seed,
        ).fit(rows, np.zeros(sampled.size))
        Z = model.features(rows)  # [N, 2D]
        distances, first, second = _all_pairs(rows)
        here = distances == settings["squared_distance"]
        B = 2.0 * settings["learning_rate"] * np.einsum("pd,pd->p", Z[first[here]], Z[second[here]])
        repeats.append(B.tolist())
    return {"similarities": repeats}


def pairs(loaded: Loaded, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """|y_i − y_j| and ‖d‖² of all pairs of sampled nodes, counted (figures 7 and 8).

    The table is that of the first repeat; ``differences`` are, for each repeat and some squared
    distances, how many pairs there are, the largest difference, and the part above a limit.
    """
    y = loaded.values
    assert y is not None
    table: list[list[float]] = []
    differences: dict[str, list[list[float]]] = {
        f"{d:g}": [] for d in settings["squared_distances"]
    }
    for repeat in range(settings["n_repeats"]):
        sampled, _, _, X = _split(loaded, settings, seed, repeat)
        distances, first, second = _all_pairs(X[sampled])
        gaps = np.abs(y[sampled][first] - y[sampled][second])
        if repeat == 0:
            table = _counted(distances, gaps)
        for key, limit in zip(differences, settings["limits"], strict=True):
            here = gaps[distances == float(key)]
            if here.size:
                above = float(np.mean(here > limit))
                differences[key].append([float(here.size), float(here.max()), above])
    return {"table": table, "differences": differences}


def distances(loaded: Loaded, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Smallest nonzero and largest squared distance of sampled nodes, over repeats."""
    found = []
    for repeat in range(settings["n_repeats"]):
        sampled, _, _, X = _split(loaded, settings, seed, repeat)
        extremes = extreme_squared_distances(X[sampled])
        found.append([extremes.smallest_nonzero, extremes.largest])
    return {"squared_distances": found}


def triples(loaded: Loaded, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """α₂/2η by the exponential approximation, over all triples of sampled nodes.

    It is at most 1 where squared distances keep the triangle inequality.
    """
    largest, above = [], []
    for repeat in range(settings["n_repeats"]):
        sampled, _, _, X = _split(loaded, settings, seed, repeat)
        rows = X[sampled].toarray()
        D = np.square(rows[:, np.newaxis] - rows).sum(axis=2)  # [N, N]
        excess = D[:, :, np.newaxis] + D[np.newaxis] - D[:, np.newaxis]  # [i, k, j]
        different = np.ones(excess.shape, dtype=np.bool_)
        for first, second in ((0, 1), (1, 2), (0, 2)):
            axis = {0, 1, 2} - {first, second}
            different &= ~np.expand_dims(np.eye(sampled.size, dtype=np.bool_), axis.pop())
        exponents = excess[different] / (2.0 * settings["sigma2"])
        largest.append(float(np.exp(-exponents.min())))
        above.append(float(np.mean(exponents < -1e-12)))
    return {"largest_ratio": largest, "part_above": above}


def numberings(loaded: Loaded, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Smallest mean GNMSE for every numbering of the classes, from one training a variance.

    Predictions are linear in the values, so those for any numbering c of the classes follow from
    predictions of class membership H with errors E: ‖E c‖² / ‖H c‖². The first numbering is that
    of the data set.
    """
    data = loaded.dataset
    assert data is not None
    classes, of_node = np.unique(data.values, return_inverse=True)
    H = np.eye(classes.size)[of_node]  # [n, C]
    numbered = np.array(list(permutations(range(classes.size)))) / (classes.size - 1.0)  # [C!, C]
    errors = np.zeros((len(settings["sigma2"]), len(numbered)))  # [S, C!]
    for repeat in range(settings["n_repeats"]):
        sampled, tested, model_seed, X = _split(loaded, settings, seed, repeat)
        for s, sigma2 in enumerate(settings["sigma2"]):
            model = SKGRegressor(
                sigma2=sigma2,
                n_frequencies=settings["n_frequencies"],
                learning_rate=settings["learning_rate"],
                n_epochs=settings["n_epochs"],
                random_state=model_seed,
                keep_known=False,
            ).fit(X[sampled], H[sampled])
            E = H[tested] - model.predict(X[tested])  # [n_tested, C]
            errors[s] += _squares(numbered, E) / _squares(numbered, H[tested])
    smallest = errors.min(axis=0) / settings["n_repeats"]
    return {
        "n_numberings": int(smallest.size),
        "ours": float(smallest[0]),
        "smallest": float(smallest.min()),
        "median": float(np.median(smallest)),
        "largest": float(smallest.max()),
        "part_above": float(np.mean(smallest > settings["limit"])),
    }


def _late_ranks(B: NDArray[np.float64], F: NDArray[np.float64]) -> list[float]:
    """For weights of the last steps with a B among the smallest: the part of F below them."""
    late = slice(-_LATE, None)
    small = B[:, late] <= np.quantile(B, _SMALL, axis=1, keepdims=True)  # [n_tested, late]
    below = np.mean(F[:, np.newaxis] < F[:, late, np.newaxis], axis=2)
    ranks: list[float] = below[small].tolist()
    return ranks


def _squares(numbered: NDArray[np.float64], H: NDArray[np.float64]) -> NDArray[np.float64]:
    """‖H c‖² for each row c of ``numbered``."""
    return np.asarray(np.einsum("pi,ij,pj->p", numbered, H.T @ H, numbered, optimize=True))


def _split(
    loaded: Loaded, settings: dict[str, Any], seed: int, repeat: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int, Any]:
    """Sampled and tested nodes, a seed, and adjacency vectors of all nodes to the sampled ones."""
    draw = draw_repeat(loaded.adjacency.shape[0], settings["fraction"], seed, repeat)
    return draw.sampled, draw.tested, draw.seed, loaded.adjacency[:, draw.sampled]


def _all_pairs(rows: Any) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """‖a_i − a_j‖² of all i < j, and i and j; exact for whole numbers, as in these graphs."""
    dense = rows.toarray()
    norms = np.square(dense).sum(axis=1)
    first, second = np.triu_indices(dense.shape[0], k=1)
    squared = norms[first] + norms[second] - 2.0 * (dense @ dense.T)[first, second]
    return squared, first, second


def _boundaries(model: SKGRegressor) -> list[float]:
    ranges = model.ranges_
    return [ranges.chaos_extending, ranges.extending_disturbing, ranges.disturbing_averaging]


def _counted(distances: NDArray[np.float64], gaps: NDArray[np.float64]) -> list[list[float]]:
    """Distinct pairs of numbers with how often they occur: thousands instead of 400 000."""
    # Differences of multiples of 1/6 are equal up to rounding only.
    both = np.column_stack([distances, np.round(gaps, 12)])
    found, counts = np.unique(both, axis=0, return_counts=True)
    return [[*pair, int(count)] for pair, count in zip(found.tolist(), counts, strict=True)]


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None
