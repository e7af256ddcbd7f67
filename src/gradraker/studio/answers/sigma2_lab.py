"""The paper's learner on the page about σ²: everything that does not depend on σ² is computed here.

Random frequencies scale with 1/σ, so the page gets the projections of all nodes on unit
frequencies, and computes features, training and weights for any σ² itself.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.datasets import GraphDataset
from gradraker.features import FrequencyTable, compute_projections, to_row_arrays
from gradraker.graph.values import NUMBERS
from gradraker.kernels.shift_invariant import (
    RANGES,
    ExtremePairs,
    compute_ranges,
    find_extreme_pairs,
)
from gradraker.linear.lms import draw_epoch_orders
from gradraker.live.learning.states import to_plain
from gradraker.models import SKGRegressor
from gradraker.report.explorer import pack
from gradraker.sweep.repeats import Sweep, run_repeat
from gradraker.sweep.sweep_result import Draw, draw_repeat

if TYPE_CHECKING:
    from gradraker.models import NodeModel

Floats = NDArray[np.float64]
MAX_NODES = 2000
MAX_EPOCHS = 20
RULES = ("theory", "refined", "median", "cv")
_KERNEL = "gaussian"
_FRACTION = 0.4
_SEED = 0
_N_SIGMA2 = 41
_MAX_REPEATS = 20
_MAX_SINES = 6e7  # of all repeats of the curve: about a second
_MIN_KNOWN = 5


@dataclass(frozen=True)
class LabSettings:
    """D, η and E of the learner, and the number of the split."""

    n_frequencies: int = 200
    learning_rate: float = 0.1
    n_epochs: int = 3
    repeat: int = 0

    @property
    def learner(self) -> dict[str, Any]:
        """D, η and E, by the parameter names of learners."""
        return {name: value for name, value in vars(self).items() if name != "repeat"}


class Sigma2Lab:
    """A graph with all values, split into known and unknown nodes as the paper does."""

    def __init__(self, dataset: GraphDataset, *, n_all: int | None = None) -> None:
        self.dataset = dataset
        self.n_all = dataset.n_nodes if n_all is None else n_all
        self._fraction = int(_FRACTION * dataset.n_nodes + 1e-9) / dataset.n_nodes
        self._values = dataset.scale_values()
        self._pairs: tuple[int, ExtremePairs] | None = None

    def draw(self, repeat: int) -> Draw:
        """Draw known and unknown nodes, as repeat ``repeat`` of a sweep does."""
        return draw_repeat(self.dataset.n_nodes, self._fraction, _SEED, repeat)

    def _get_rows(self, draw: Draw) -> csr_array:
        vectors = csr_array(self.dataset.adjacency[:, draw.known])
        vectors.sort_indices()
        return vectors

    def describe_split(self, settings: LabSettings) -> dict[str, Any]:
        """Return the split, projections, orders of training, and the four ranges."""
        draw = self.draw(settings.repeat)
        X = self._get_rows(draw)
        rows = to_row_arrays(X)
        table = FrequencyTable(
            draw.seed, settings.n_frequencies, _KERNEL, n_numbered=draw.known.size
        )
        orders = draw_epoch_orders(draw.seed, draw.known.size, MAX_EPOCHS, shuffle=True)
        pairs = self._find_pairs(settings.repeat)
        ranges = compute_ranges(pairs, n_frequencies=settings.n_frequencies)
        data = self.dataset
        low, high = float(data.values.min()), float(data.values.max())
        return {
            "names": list(data.node_names),
            "known": pack(draw.known, "<u4"),
            "unknown": pack(draw.unknown, "<u4"),
            "seed": draw.seed,
            "projections": pack(compute_projections(rows, table.prepare(rows.indices)), "<f8"),
            "n_frequencies": settings.n_frequencies,
            "orders": pack(np.concatenate(orders), "<u4"),
            "values": pack(self._values, "<f8"),
            "unit_values": [low, high],
            "position": None if data.positions is None else pack(data.positions[:, 0], "<f8"),
            "position_name": data.position_names[0] if data.position_names else None,
            "boundaries": list(ranges.boundaries),
            "ranges": [[name, ranges.get_meaning(name)] for name in RANGES],
            "noise_ratio": ranges.noise_ratio,
            "distances": [pairs.smallest_distance, pairs.largest_distance],
            "n_all": self.n_all,
        }

    def _find_pairs(self, repeat: int) -> ExtremePairs:
        """Return the extreme distances of a split; those of the last split are cached."""
        if self._pairs is None or self._pairs[0] != repeat:
            draw = self.draw(repeat)
            X = self._get_rows(draw)[draw.known]
            self._pairs = repeat, find_extreme_pairs(X, kernel=_KERNEL)
        return self._pairs[1]

    def _make_sweep(self, settings: LabSettings) -> Sweep:
        pairs = self._find_pairs(settings.repeat)
        ranges = compute_ranges(pairs, n_frequencies=settings.n_frequencies)
        # From deep in the chaos range to far in the averaging range.
        low, high = ranges.chaos_extending / 8.0, ranges.disturbing_averaging * 8.0
        return Sweep(
            *to_row_arrays(self.dataset.adjacency),
            values=self._values,
            sigma2=np.geomspace(low, high, _N_SIGMA2),
            fraction=self._fraction,
            **settings.learner,
            kernel=_KERNEL,
            random_state=_SEED,
        )

    def compute_curve(self, settings: LabSettings) -> dict[str, Any]:
        """Return GNMSE over σ² of this split, the paper's figure 1."""
        sweep = self._make_sweep(settings)
        return {
            "sigma2": sweep.sigma2.tolist(),
            "own": to_plain(run_repeat(sweep, settings.repeat).gnmse),
        }

    def average_curves(self, settings: LabSettings) -> dict[str, Any]:
        """Return the mean GNMSE over σ² of this split and others; it takes about a second."""
        sweep, n_sines = self._make_sweep(settings), settings.n_frequencies * _N_SIGMA2
        n_repeats = int(np.clip(_MAX_SINES / (self.dataset.n_nodes * n_sines), 2, _MAX_REPEATS))
        others = [i for i in range(n_repeats) if i != settings.repeat][: n_repeats - 1]
        found = [run_repeat(sweep, repeat).gnmse for repeat in (settings.repeat, *others)]
        errors = np.array(found)  # [R, S]
        spread = errors.std(axis=0, ddof=1) / np.sqrt(len(found))
        return {
            "mean": to_plain(errors.mean(axis=0)),
            "standard_error": to_plain(spread),
            "n_repeats": len(found),
        }

    def choose_by_rules(self, settings: LabSettings) -> dict[str, Any]:
        """Return the σ² that each rule chooses for the known nodes of this split."""
        draw = self.draw(settings.repeat)
        X, y = self._get_rows(draw)[draw.known], self._values[draw.known]
        found: dict[str, float | None] = {}
        for rule in RULES:
            model = SKGRegressor(sigma2=rule, **settings.learner, random_state=draw.seed)
            try:
                found[rule] = float(model.fit(X, y).sigma2_)
            except ValueError:
                found[rule] = None
        return {"rules": found}


# Answers for the page, by their names in addresses.
LAB_ANSWERS = {
    "split": Sigma2Lab.describe_split,
    "curve": Sigma2Lab.compute_curve,
    "mean": Sigma2Lab.average_curves,
    "rules": Sigma2Lab.choose_by_rules,
}


def make_lab(model: "NodeModel", names: list[str]) -> Sigma2Lab:
    """Return the lab of the known nodes of a model, or of 2000 random ones if there are more."""
    if model.value_kind is not NUMBERS:
        raise ValueError("the paper's learner predicts numbers, and the values here are classes")
    known = np.flatnonzero(model.value_kind.is_known(model.values_))
    if known.size < _MIN_KNOWN:
        raise ValueError(f"σ² needs at least {_MIN_KNOWN} known values, got {known.size}")
    rows = known
    if known.size > MAX_NODES:
        rows = np.sort(np.random.default_rng(_SEED).permutation(known)[:MAX_NODES])
    A = csr_array(model.used_adjacency_[rows][:, rows])
    dataset = GraphDataset(
        A, model.values_[rows].astype(np.float64), tuple(names[i] for i in rows), name="known nodes"
    )
    return Sigma2Lab(dataset, n_all=int(known.size))
