"""Extreme distances between dense rows: bounds from a centre and a line, matrix products."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradraker._compiled import dense_distances as loops
from gradraker.kernels.distances.canonical_rows import DENSE_UP_TO_COLUMNS, DenseRows, Found
from gradraker.kernels.distances.dense_blocks import Extremes, Shadow, n_threads, search_blocks

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

# Fewer rows than this are compared faster than a tree over them is built.
TREE_FROM_ROWS = 2000


def search_dense(
    rows: DenseRows, *, squared: bool, near: bool, far: bool, plan: str | None = None
) -> tuple[Found | None, Found | None]:
    """Find the nearest and the farthest pair of rows, which are all distinct.

    ``plan`` forces what is otherwise chosen by the least work: "sweep", "blocks" or (for the
    nearest pair) "tree".
    """
    shadow = cast_shadow(rows, squared=squared)
    found = Extremes()
    near_plan = far_plan = ""
    if near:
        found = _first_near(rows, shadow, found, squared=squared)
        near_plan = plan or _near_plan(rows, shadow, found.smallest, squared=squared)
        if near_plan == "tree":
            found = _tree(rows, found, squared=squared)
        elif near_plan == "sweep":
            found = _sweep_near(rows, shadow, found, rows.labels.size, squared=squared)
    near_checked = found.n_checked
    if far:
        found = _first_far(rows, shadow, found, squared=squared)
        far_plan = plan or _far_plan(rows, shadow, found.largest, squared=squared)
        if far_plan == "sweep":
            found = _sweep_far(rows, shadow, found, squared=squared)
    if "blocks" in (near_plan, far_plan):
        # Rows too close to the centre cannot be in the farthest pair.
        all_rows = np.arange(rows.labels.size)
        order = all_rows if near_plan == "blocks" else _far_rows(shadow, found.largest, squared)
        found = search_blocks(
            rows, shadow, found, order,
            squared=squared, near=near_plan == "blocks", far=far_plan == "blocks",
        )  # fmt: skip
    if not far:
        near_checked = found.n_checked
    return (
        _found(rows, found.near, near_checked, near_plan),
        _found(rows, found.far, found.n_checked - near_checked, far_plan),
    )


def _found(rows: DenseRows, pair: tuple[int, int], n_checked: int, method: str) -> Found | None:
    if pair[0] < 0:
        return None
    i, j = sorted((int(rows.labels[pair[0]]), int(rows.labels[pair[1]])))
    return Found(i, j, n_checked, method)


def cast_shadow(rows: DenseRows, *, squared: bool) -> Shadow:
    """See rows from their mean and along the line on which they spread most, about."""
    values = rows.values
    n_rows, n_columns = values.shape
    centre = values.mean(axis=0)
    if rows.facts.integral:
        centre = np.rint(centre)  # any centre will do, and integers stay integers
    line = values[loops.farthest_dense_row(values, 0, squared)] - values[0]
    for _ in range(2):  # power iteration; any line will do
        line /= np.abs(line).max()
        line /= np.linalg.norm(line)
        weights = values @ line - centre @ line  # [n]
        if not np.any(weights):
            break
        line = weights @ values - weights.sum() * centre  # [M]
    size = np.abs(line).max()
    line = line / size if size > 0.0 else np.eye(1, n_columns)[0]
    line /= np.linalg.norm(line)

    along, across, radii = np.empty((3, n_rows))
    for start in range(0, n_rows, 1024):
        part = slice(start, start + 1024)
        rest = values[part] - centre
        along[part] = rest @ line
        if squared:
            rest -= along[part, None] * line
            across[part] = np.sqrt(np.einsum("ij,ij->i", rest, rest))
            radii[part] = np.hypot(along[part], across[part])
        else:
            radii[part] = np.abs(rest).sum(axis=1)
    if not squared:
        # |line·(a−b)| ≤ max|line|·‖a−b‖₁
        along /= np.abs(line).max()
        across = radii
    slack = 4.0 * (n_columns + 16) * float(np.finfo(np.float64).eps)
    return Shadow(centre, along, across, radii, slack, slack * float(radii.max()))


def _one_by_one_pays(rows: DenseRows, n_pairs: float, n_rows: int, *, squared: bool) -> bool:
    """Whether comparing ``n_pairs`` beats blocks of all pairs of ``n_rows``.

    In nanoseconds as measured on one machine; only their ratio matters.
    """
    n_columns = rows.values.shape[1]
    per_block_pair = 1.0 + 0.025 * n_columns * (1 if squared else 2 / n_threads())
    return bool(n_pairs * (5.0 + 0.2 * n_columns) <= 2e6 + n_rows**2 / 2 * per_block_pair)


def _root(distance: float, squared: bool) -> float:
    return float(np.sqrt(distance)) if squared else distance


# The nearest pair


def _first_near(rows: DenseRows, shadow: Shadow, found: Extremes, *, squared: bool) -> Extremes:
    return _sweep_near(rows, shadow, found._replace(smallest=np.inf), 4, squared=squared)


def _near_plan(rows: DenseRows, shadow: Shadow, best: float, *, squared: bool) -> str:
    n_rows, n_columns = rows.values.shape
    if n_columns <= DENSE_UP_TO_COLUMNS and n_rows >= TREE_FROM_ROWS:
        return "tree"
    along = np.sort(shadow.along)
    ends = np.searchsorted(along, along + (_root(best, squared) + shadow.error))
    n_pairs = float((ends - np.arange(n_rows)).sum())
    pays = _one_by_one_pays(rows, n_pairs, n_rows, squared=squared)
    return "sweep" if pays else "blocks"


def _sweep_near(
    rows: DenseRows, shadow: Shadow, found: Extremes, max_ahead: int, *, squared: bool
) -> Extremes:
    order = np.argsort(shadow.along, kind="stable")
    smallest, i, j, n_checked = loops.sweep_smallest_dense(
        rows.values, order, shadow.along[order], shadow.across[order], squared, shadow.error,
        shadow.slack, max_ahead, found.smallest,
    )  # fmt: skip
    return found.merged(Extremes(smallest=smallest, near=(i, j), n_checked=n_checked))


def _tree(rows: DenseRows, found: Extremes, *, squared: bool) -> Extremes:
    """Ask a k-d tree for the neighbour of each row that is nearer than the best so far."""
    # Imported late, because few callers need it and its import is slow.
    from scipy.spatial import KDTree

    tree = KDTree(rows.values, compact_nodes=False, balanced_tree=False)
    distances, indices = tree.query(
        rows.values,
        k=2,
        p=2.0 if squared else 1.0,
        distance_upper_bound=_root(found.smallest, squared) * (1.0 + 1e-9),
    )  # both [n, 2]; the first is the row itself, others are at infinity if too far
    i = int(np.argmin(distances[:, 1]))
    j = int(indices[i, 1] if indices[i, 1] != i else indices[i, 0])
    smallest = np.inf
    if j < rows.labels.size:
        smallest = loops.dense_pair_distance(rows.values, i, j, squared)
    return found.merged(Extremes(smallest=smallest, near=(i, j), n_checked=rows.labels.size))


# The farthest pair


def _first_far(rows: DenseRows, shadow: Shadow, found: Extremes, *, squared: bool) -> Extremes:
    """Go from a row to the one farthest from it, and on from there while that helps."""
    i = int(np.argmax(shadow.radii))
    found = found._replace(largest=-1.0)
    while True:
        j = loops.farthest_dense_row(rows.values, i, squared)
        distance = loops.dense_pair_distance(rows.values, i, j, squared)
        better = distance > found.largest
        found = found.merged(Extremes(largest=distance, far=(i, j), n_checked=rows.labels.size - 1))
        if not better:
            return found
        i = j


def _far_rows(shadow: Shadow, best: float, squared: bool) -> Int64:
    """Rows that may be in a farther pair, by descending radius."""
    reach = _root(best, squared) * (1.0 - shadow.slack)
    rows = np.flatnonzero(shadow.radii + shadow.radii.max() >= reach)
    return rows[np.argsort(-shadow.radii[rows], kind="stable")]


def _far_plan(rows: DenseRows, shadow: Shadow, best: float, *, squared: bool) -> str:
    radii = shadow.radii[_far_rows(shadow, best, squared)]
    reach = _root(best, squared) * (1.0 - shadow.slack)
    partners = radii.size - np.searchsorted(radii[::-1], reach - radii)
    n_pairs = float(np.maximum(partners - np.arange(1, radii.size + 1), 0).sum())
    pays = _one_by_one_pays(rows, n_pairs, radii.size, squared=squared)
    return "sweep" if pays else "blocks"


def _sweep_far(rows: DenseRows, shadow: Shadow, found: Extremes, *, squared: bool) -> Extremes:
    order = _far_rows(shadow, found.largest, squared)
    largest, i, j, n_checked = loops.sweep_largest_dense(
        rows.values, order, shadow.radii[order], squared, shadow.slack, found.largest
    )
    return found.merged(Extremes(largest=largest, far=(i, j), n_checked=n_checked))
