"""Data of the interactive page: a few bytes per node, and panels for the remarkable nodes."""

import base64
import json
import shlex
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import show_hidden, to_json_number
from gradraker.exceptions import UnknownNodesError
from gradraker.graph.node_graph import find_neighbourhood
from gradraker.models.left_out import LeftOut, LeftOutClasses
from gradraker.report.summary import to_json_name
from gradraker.workflow import Contributors, NodePredictions

Ints = NDArray[np.int64]

# Limits that keep a page below 10 MB: bytes of all data, bytes of columns per node, nodes.
_PAGE_BYTES = 7_500_000
_COLUMN_BYTES = 40
_MAX_NODES = 110_000
_MAX_NAME_LENGTH = 300
# Neighbours listed with a node, and known nodes listed in a panel.
_MAX_NEIGHBOURS = 12
_N_CONTRIBUTORS = 8
# Panels: for all nodes of a small graph, else this many of each kind; a minimum per target.
_MAX_PANELS = 600
_MIN_PANELS = 100
_N_EXTREMES, _N_UNCERTAIN, _N_SURPRISING = 130, 160, 160


@dataclass(frozen=True)
class RemarkableNodes:
    """Rows of remarkable nodes, by the reason; the most remarkable first."""

    requested: Ints  # by the user
    highest: Ints
    lowest: Ints
    uncertain: Ints
    surprising: Ints


def build_explorer(
    result: NodePredictions,
    *,
    explain_nodes: Sequence[Hashable] = (),
    model_file: str | None = None,
    n_targets: int = 1,
) -> dict[str, Any]:
    """Collect the data of the interactive page, as a dict ready for JSON.

    Parameters
    ----------
    result : NodePredictions
        Result of :func:`gradraker.predict_nodes`.
    explain_nodes : sequence of names
        Nodes that always get a panel.
    model_file : str, optional
        The file of the model, for the command that explains a node.
    n_targets : int, default=1
        Number of targets that share a page; each gets its share of the space.

    Returns
    -------
    dict
        Columns of all nodes are packed as base64; nodes are numbered in the order of their names.

    Examples
    --------
    >>> from gradraker import load_temperature, predict_nodes
    >>> from gradraker.report import build_explorer
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> explorer = build_explorer(predict_nodes(data, known))
    >>> explorer["n"], len(explorer["panels"])
    (89, 89)
    """
    remarkable = choose_remarkable(result, _find_rows(result, explain_nodes))
    shown = _choose_shown(len(result.nodes), remarkable, _MAX_NODES // n_targets)
    full_names = [str(name) for name in result.nodes[shown].tolist()]
    order = _sort_names(full_names)
    shown, full_names = shown[order], [full_names[i] for i in order]
    free = _PAGE_BYTES // n_targets - _COLUMN_BYTES * shown.size
    number = np.full(len(result.nodes), -1, dtype=np.int64)  # row → number on the page
    number[shown] = np.arange(shown.size)
    names, n_cut = _cut_names(full_names, free * 2 // 3)
    rows = _choose_panels(remarkable, number, max(_MAX_PANELS // n_targets, _MIN_PANELS))
    absent = len(result.nodes) - shown.size
    left_out = [f"{absent} nodes are left out, so that the page stays small"] if absent else []
    left_out += [f"{n_cut} long names are cut"] if n_cut else []
    used = sum(len(json.dumps(name, ensure_ascii=False)) + 2 for name in names)
    neighbours = _list_neighbours(result, shown, number, max(free // 3, free - used))
    panels, smallest = _make_panels(result, rows, number)
    labels = result.classes.tolist() if result.task == "classes" else []
    classes = [show_hidden(to_json_name(label))[:_MAX_NAME_LENGTH] for label in labels]
    model = shlex.quote(model_file or "MODEL")
    target_option = "" if result.target is None else f" --target={shlex.quote(str(result.target))}"
    return {
        "n": int(shown.size),
        "task": result.task,
        "names": names,
        "odd": [i for i, (a, b) in enumerate(zip(names, full_names, strict=True)) if a != b],
        "columns": _pack_columns(result, shown),
        "classes": classes,
        "coverage": result.coverage,
        "neighbours": neighbours,
        "panels": panels,
        "smallest_weight": smallest,
        # The page appends the name of a node.
        "command": f"gradraker explain --model {model}{target_option} --node=",
        "left_out": left_out,
    }


def choose_remarkable(result: NodePredictions, requested: Ints) -> RemarkableNodes:
    """Choose the highest, lowest and least certain predictions, and the most surprising values."""
    unknown = np.flatnonzero(~result.is_known)
    empty = np.empty(0, dtype=np.int64)
    if result.probabilities is not None:
        certainty = result.probabilities.max(axis=1)[unknown]
        uncertain = unknown[np.argsort(certainty, kind="stable")]
        highest, lowest = uncertain[::-1], empty
    else:
        by_value = unknown[np.argsort(result.predictions[unknown], kind="stable")]
        highest, lowest, uncertain = by_value[::-1], by_value, empty
        if result.intervals is not None:
            widths = np.subtract(*result.intervals[unknown].T[::-1])
            uncertain = unknown[np.argsort(-widths, kind="stable")]
    return RemarkableNodes(requested, highest, lowest, uncertain, _rank_surprising(result))


def _rank_surprising(result: NodePredictions) -> Ints:
    """Return known nodes, the worst left-out prediction first."""
    left_out = result.left_out
    if isinstance(left_out, LeftOut):
        errors = np.abs(left_out.predictions - left_out.values)
    elif isinstance(left_out, LeftOutClasses):
        errors = 1.0 - left_out.probabilities[np.arange(left_out.codes.size), left_out.codes]
    else:
        return np.empty(0, dtype=np.int64)
    return np.asarray(left_out.rows[np.argsort(-errors, kind="stable")])


def _find_rows(result: NodePredictions, nodes: Sequence[Hashable]) -> Ints:
    position = result.positions
    missing = [node for node in nodes if node not in position]
    if missing:
        raise UnknownNodesError("explain_nodes", missing, "name nodes of the graph")
    return np.array([position[node] for node in nodes], dtype=np.int64)


def _choose_shown(n: int, remarkable: RemarkableNodes, n_max: int) -> Ints:
    """Return the rows of the nodes on the page: all, or the most remarkable ones."""
    if n <= n_max:
        return np.arange(n)
    third = n_max // 3
    ranked = [remarkable.requested, remarkable.uncertain[:third], remarkable.surprising[:third]]
    ranked += [remarkable.highest[:third], remarkable.lowest[:third], np.arange(n)]
    return np.array(list(dict.fromkeys(np.concatenate(ranked).tolist())))[:n_max]


def _sort_names(names: list[str]) -> list[int]:
    """Return the order of names: by number if all are whole numbers, else alphabetical."""
    if all(name.removeprefix("-").isdecimal() and name.isascii() for name in names):
        return sorted(range(len(names)), key=lambda i: (int(names[i]), names[i]))
    return sorted(range(len(names)), key=lambda i: names[i])


def _cut_names(full_names: list[str], max_bytes: int) -> tuple[list[str], int]:
    """Return names that fit the page, hidden characters shown, and how many of them were cut."""
    longest = _MAX_NAME_LENGTH
    names = [show_hidden(name) for name in full_names]
    sizes = np.array([len(json.dumps(name, ensure_ascii=False)) + 2 for name in names])
    while longest > 8 and int(np.minimum(sizes, longest + 6).sum()) > max_bytes:
        longest = longest * 3 // 4
    # The length of a cut name is added only if there is space for it.
    cut = [
        name
        if len(name) <= longest
        else f"{name[:longest]}…{f' ({len(name)} characters)' if longest > 60 else ''}"
        for name in names
    ]
    return cut, int(np.sum([len(name) > longest for name in names]))


def _pack_columns(result: NodePredictions, shown: Ints) -> dict[str, str]:
    degrees = result.model.count_neighbours()[shown]
    columns: dict[str, NDArray[Any]] = {
        "known": result.is_known[shown].astype(np.uint8),
        "degree": degrees.astype(np.uint32),
    }
    if result.task == "classes":
        assert result.probabilities is not None
        order = result.rank_classes()[shown]
        probabilities = np.take_along_axis(result.probabilities[shown], order[:, :2], axis=1)
        position = {label: i for i, label in enumerate(result.classes.tolist())}
        codes = [position.get(label, -1) for label in result.values[shown].tolist()]
        columns |= {
            "value": np.array(codes, dtype=np.int32),
            "prediction": order[:, 0].astype(np.int32),
            "probability": probabilities[:, 0],
        }
        if order.shape[1] > 1:
            columns |= {
                "runner_up": order[:, 1].astype(np.int32),
                "runner_up_probability": probabilities[:, 1],
            }
    else:
        columns |= {"value": result.values[shown], "prediction": result.predictions[shown]}
        if result.intervals is not None:
            lower, upper = result.intervals[shown].T
            columns |= {"lower": lower, "upper": upper}
    left_out = _list_left_out_predictions(result)[shown]
    if np.isfinite(left_out).any():
        columns["left_out"] = left_out if result.task == "values" else left_out.astype(np.int32)
    # 7 digits are enough for floats.
    return {
        name: pack(column, "<f4" if column.dtype.kind == "f" else column.dtype.str)
        for name, column in columns.items()
    }


def _list_left_out_predictions(result: NodePredictions) -> NDArray[np.float64]:
    """Return the left-out prediction of each node, NaN for none; for classes its code, or -1."""
    predictions = np.full(len(result.nodes), np.nan)
    left_out = result.left_out
    if isinstance(left_out, LeftOut):
        predictions[left_out.rows] = left_out.predictions
    elif isinstance(left_out, LeftOutClasses):
        predictions[:] = -1.0
        predictions[left_out.rows] = left_out.predicted
    return predictions


def _list_neighbours(
    result: NodePredictions, shown: Ints, number: Ints, max_bytes: int
) -> dict[str, str]:
    """Return some neighbours of each node, known ones first, as many as fit the page."""
    A = result.adjacency
    counts = np.diff(A.indptr)[shown]
    n_max = _MAX_NEIGHBOURS
    while n_max > 1 and 6 * int(np.minimum(counts, n_max).sum()) > max_bytes:
        n_max -= 1
    known = result.is_known
    listed: list[Ints] = []
    for row in shown.tolist():
        others = A.indices[A.indptr[row] : A.indptr[row + 1]]
        others = others[(others != row) & (number[others] >= 0)]
        if others.size > n_max:
            others = others[np.argsort(~known[others], kind="stable")[:n_max]]
        listed.append(number[others])
    starts = np.concatenate([[0], np.cumsum([len(numbers) for numbers in listed])])
    ids = np.concatenate(listed) if listed else np.empty(0)
    return {"starts": pack(starts, "<u4"), "ids": pack(ids, "<u4")}


def _choose_panels(nodes: RemarkableNodes, number: Ints, n_max: int) -> Ints:
    if number.size <= n_max:
        return np.arange(number.size)
    share = n_max / _MAX_PANELS
    extremes, uncertain = round(share * _N_EXTREMES), round(share * _N_UNCERTAIN)
    chosen = [nodes.requested, nodes.highest[:extremes], nodes.lowest[:extremes]]
    chosen += [nodes.uncertain[:uncertain], nodes.surprising[: round(share * _N_SURPRISING)]]
    # If these are too few: more of the highest and the surprising, then any.
    chosen += [nodes.highest[:_MAX_PANELS], nodes.surprising[:_MAX_PANELS], np.arange(_MAX_PANELS)]
    rows = np.array(list(dict.fromkeys(np.concatenate(chosen).tolist())), dtype=np.int64)
    rows = rows[: max(n_max, nodes.requested.size)]
    return rows[number[rows] >= 0]


def _make_panels(
    result: NodePredictions, rows: Ints, number: Ints
) -> tuple[list[dict[str, Any]], float]:
    """Return panels, and the smallest weight of any known node in any of them."""
    is_left_out = np.isin(rows, [] if result.left_out is None else result.left_out.rows)
    panels: list[dict[str, Any]] = []
    smallest = 0.0
    for without_own in (False, True):
        chosen = rows[is_left_out == without_own]
        if not chosen.size:
            continue
        names = result.nodes[chosen].tolist()
        if without_own:
            found = result.find_left_out_contributors(_N_CONTRIBUTORS, nodes=names)
        else:
            found = result.find_contributors(_N_CONTRIBUTORS, nodes=names)
        smallest = min(smallest, found.smallest_weight)
        panels += [
            _make_panel(result, row, i, found, number, without_own)
            for i, row in enumerate(chosen.tolist())
        ]
    return panels, smallest


def _make_panel(
    result: NodePredictions, row: int, i: int, found: Contributors, number: Ints, without_own: bool
) -> dict[str, Any]:
    rows = [result.positions[name] for name in found.names[i]]
    weights = found.weights[i].tolist()
    pairs = [(r, w) for r, w in zip(rows, weights, strict=True) if number[r] >= 0 and w]
    drawn, edges = find_neighbourhood(
        result.adjacency, row, [r for r, _ in pairs], is_shown=number >= 0
    )
    panel: dict[str, Any] = {
        "i": int(number[row]),
        "left_out": without_own,
        "weights": [[int(number[r]), float(f"{weight:.4g}")] for r, weight in pairs],
        "drawn": number[drawn].tolist(),
        "edges": edges,
    }
    if result.task == "values":
        total = float(found.predictions[i])
        if result.bounds.clip(np.array([total]))[0] != total:
            panel["unclipped"] = to_json_number(total)
    if found.parts[i]:
        panel["parts"] = [[name, float(f"{p:.4g}")] for name, p in found.parts[i].items()]
    return panel


def pack(array: Any, kind: str) -> str:
    """Pack an array for JSON: base64 of little-endian numbers of a type such as ``"<f8"``."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()
