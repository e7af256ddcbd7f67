"""The data of the living page: every node in a few bytes, and panels for the nodes that matter."""

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

# A page below 10 MB: bytes for all data, and for the columns of one node, the most nodes.
_PAGE_BYTES = 7_500_000
_COLUMN_BYTES = 40
_MOST_NODES = 110_000
_LONGEST_NAME = 300
# Neighbours that are listed with a node, and known nodes that a panel lists.
_MOST_NEIGHBOURS = 12
_N_CONTRIBUTORS = 8
# Nodes with a panel: all of a small graph, or so many of each kind.
_SMALL = 600
_FEWEST = 100
_EXTREMES, _UNCERTAIN, _SURPRISING = 130, 160, 160


@dataclass(frozen=True)
class Choice:
    """Rows of nodes by what is remarkable about them, the most remarkable first."""

    asked: NDArray[np.int64]  # those that a user asked for
    highest: NDArray[np.int64]
    lowest: NDArray[np.int64]
    uncertain: NDArray[np.int64]
    surprising: NDArray[np.int64]


def build_explorer(
    result: NodePredictions,
    *,
    explain_nodes: Sequence[Hashable] = (),
    model_file: str | None = None,
    n_targets: int = 1,
) -> dict[str, Any]:
    """Collect what the living page shows, as a dict that JSON can hold.

    Parameters
    ----------
    result : NodePredictions
        What :func:`gradraker.predict_nodes` returned.
    explain_nodes : sequence of names
        Nodes that get a panel in any case.
    model_file : str, optional
        The file of the model, for the command that explains a node.
    n_targets : int, default=1
        Targets that share a page, which stays as small as a page of one.

    Returns
    -------
    dict
        Numbers of all nodes are packed as base64; nodes are numbered in the order of their names.

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
    choice = choose_remarkable(result, _find_rows(result, explain_nodes))
    shown = _choose_shown(len(result.nodes), choice, _MOST_NODES // n_targets)
    given = [str(name) for name in result.nodes[shown].tolist()]
    order = _sort_names(given)
    shown, given = shown[order], [given[i] for i in order]
    free = _PAGE_BYTES // n_targets - _COLUMN_BYTES * shown.size
    number = np.full(len(result.nodes), -1, dtype=np.int64)  # the number on the page of each row
    number[shown] = np.arange(shown.size)
    names, n_cut = _cut_names(given, free * 2 // 3)
    rows = _choose_panels(choice, number, max(_SMALL // n_targets, _FEWEST))
    absent = len(result.nodes) - shown.size
    left_out = [f"{absent} nodes are left out, so that the page stays small"] if absent else []
    left_out += [f"{n_cut} long names are cut"] if n_cut else []
    used = sum(len(json.dumps(name, ensure_ascii=False)) + 2 for name in names)
    neighbours = _list_neighbours(result, shown, number, max(free // 3, free - used))
    panels, smallest = _make_panels(result, rows, number)
    labels = result.classes.tolist() if result.task == "classes" else []
    classes = [show_hidden(to_json_name(label))[:_LONGEST_NAME] for label in labels]
    model = shlex.quote(model_file or "MODEL")
    of_target = "" if result.target is None else f" --target={shlex.quote(str(result.target))}"
    return {
        "n": int(shown.size),
        "task": result.task,
        "names": names,
        "odd": [i for i, (a, b) in enumerate(zip(names, given, strict=True)) if a != b],
        "columns": _pack_columns(result, shown),
        "classes": classes,
        "coverage": result.coverage,
        "neighbours": neighbours,
        "panels": panels,
        "smallest_weight": smallest,
        # Explains a node, whose name is added to it.
        "command": f"gradraker explain --model {model}{of_target} --node=",
        "left_out": left_out,
    }


def choose_remarkable(result: NodePredictions, asked: NDArray[np.int64]) -> Choice:
    """Choose the highest, lowest and least certain predictions, and the most surprising values."""
    unknown = np.flatnonzero(~result.is_known)
    empty = np.empty(0, dtype=np.int64)
    if result.probabilities is not None:
        sure = result.probabilities.max(axis=1)[unknown]
        uncertain = unknown[np.argsort(sure, kind="stable")]
        highest, lowest = uncertain[::-1], empty
    else:
        by_value = unknown[np.argsort(result.predictions[unknown], kind="stable")]
        highest, lowest, uncertain = by_value[::-1], by_value, empty
        if result.intervals is not None:
            widths = np.subtract(*result.intervals[unknown].T[::-1])
            uncertain = unknown[np.argsort(-widths, kind="stable")]
    return Choice(asked, highest, lowest, uncertain, _rank_surprising(result))


def _rank_surprising(result: NodePredictions) -> NDArray[np.int64]:
    """Return known nodes, those first whose left-out prediction is the worst."""
    left_out = result.left_out
    if isinstance(left_out, LeftOut):
        errors = np.abs(left_out.predictions - left_out.values)
    elif isinstance(left_out, LeftOutClasses):
        errors = 1.0 - left_out.probabilities[np.arange(left_out.codes.size), left_out.codes]
    else:
        return np.empty(0, dtype=np.int64)
    return np.asarray(left_out.rows[np.argsort(-errors, kind="stable")])


def _find_rows(result: NodePredictions, nodes: Sequence[Hashable]) -> NDArray[np.int64]:
    position = result.positions
    missing = [node for node in nodes if node not in position]
    if missing:
        raise UnknownNodesError("explain_nodes", missing, "name nodes of the graph")
    return np.array([position[node] for node in nodes], dtype=np.int64)


def _choose_shown(n: int, choice: Choice, most: int) -> NDArray[np.int64]:
    """Return the rows of the nodes that the page holds: all, or those that matter most."""
    if n <= most:
        return np.arange(n)
    third = most // 3
    first = [choice.asked, choice.uncertain[:third], choice.surprising[:third]]
    first += [choice.highest[:third], choice.lowest[:third], np.arange(n)]
    return np.array(list(dict.fromkeys(np.concatenate(first).tolist())))[:most]


def _sort_names(names: list[str]) -> list[int]:
    """Return the order of names: by number if all are whole numbers, else by letters."""
    if all(name.removeprefix("-").isdecimal() and name.isascii() for name in names):
        return sorted(range(len(names)), key=lambda i: (int(names[i]), names[i]))
    return sorted(range(len(names)), key=lambda i: names[i])


def _cut_names(given: list[str], most_bytes: int) -> tuple[list[str], int]:
    """Return names that fit the page and hide nothing, and how many of them had to be cut."""
    longest = _LONGEST_NAME
    names = [show_hidden(name) for name in given]
    sizes = np.array([len(json.dumps(name, ensure_ascii=False)) + 2 for name in names])
    while longest > 8 and int(np.minimum(sizes, longest + 6).sum()) > most_bytes:
        longest = longest * 3 // 4
    # How long a name was is worth the room only where there is some.
    cut = [
        name
        if len(name) <= longest
        else f"{name[:longest]}…{f' ({len(name)} characters)' if longest > 60 else ''}"
        for name in names
    ]
    return cut, int(np.sum([len(name) > longest for name in names]))


def _pack_columns(result: NodePredictions, shown: NDArray[np.int64]) -> dict[str, str]:
    degrees = result.model.count_neighbours()[shown]
    columns: dict[str, NDArray[Any]] = {
        "known": result.is_known[shown].astype(np.uint8),
        "degree": degrees.astype(np.uint32),
    }
    if result.task == "classes":
        assert result.probabilities is not None
        order = result.rank_classes()[shown]
        chances = np.take_along_axis(result.probabilities[shown], order[:, :2], axis=1)
        position = {label: i for i, label in enumerate(result.classes.tolist())}
        codes = [position.get(label, -1) for label in result.values[shown].tolist()]
        columns |= {
            "value": np.array(codes, dtype=np.int32),
            "prediction": order[:, 0].astype(np.int32),
            "probability": chances[:, 0],
        }
        if order.shape[1] > 1:
            columns |= {
                "runner_up": order[:, 1].astype(np.int32),
                "runner_up_probability": chances[:, 1],
            }
    else:
        columns |= {"value": result.values[shown], "prediction": result.predictions[shown]}
        if result.intervals is not None:
            lower, upper = result.intervals[shown].T
            columns |= {"lower": lower, "upper": upper}
    left_out = _list_left_out_predictions(result)[shown]
    if np.isfinite(left_out).any():
        columns["left_out"] = left_out if result.task == "values" else left_out.astype(np.int32)
    # Floats need 7 digits only.
    kinds = {
        name: "<f4" if one.dtype.kind == "f" else one.dtype.str for name, one in columns.items()
    }
    return {name: pack(column, kinds[name]) for name, column in columns.items()}


def _list_left_out_predictions(result: NodePredictions) -> NDArray[np.float64]:
    """Return the left-out prediction of each node, or the number of its class; NaN for none."""
    found = np.full(len(result.nodes), np.nan)
    left_out = result.left_out
    if isinstance(left_out, LeftOut):
        found[left_out.rows] = left_out.predictions
    elif isinstance(left_out, LeftOutClasses):
        found[:] = -1.0
        found[left_out.rows] = left_out.predicted
    return found


def _list_neighbours(
    result: NodePredictions,
    shown: NDArray[np.int64],
    number: NDArray[np.int64],
    most_bytes: int,
) -> dict[str, str]:
    """Return some neighbours of each node: known ones first, as few as fit the page."""
    A = result.adjacency
    counts = np.diff(A.indptr)[shown]
    most = _MOST_NEIGHBOURS
    while most > 1 and 6 * int(np.minimum(counts, most).sum()) > most_bytes:
        most -= 1
    known = result.is_known
    listed: list[NDArray[np.int64]] = []
    for row in shown.tolist():
        others = A.indices[A.indptr[row] : A.indptr[row + 1]]
        others = others[(others != row) & (number[others] >= 0)]
        if others.size > most:
            others = others[np.argsort(~known[others], kind="stable")[:most]]
        listed.append(number[others])
    starts = np.concatenate([[0], np.cumsum([len(one) for one in listed])])
    ids = np.concatenate(listed) if listed else np.empty(0)
    return {"starts": pack(starts, "<u4"), "ids": pack(ids, "<u4")}


def _choose_panels(choice: Choice, number: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    if number.size <= most:
        return np.arange(number.size)
    part = most / _SMALL
    extremes, uncertain = round(part * _EXTREMES), round(part * _UNCERTAIN)
    chosen = [choice.asked, choice.highest[:extremes], choice.lowest[:extremes]]
    chosen += [choice.uncertain[:uncertain], choice.surprising[: round(part * _SURPRISING)]]
    # More of these where there are too few of the others, then any.
    chosen += [choice.highest[:_SMALL], choice.surprising[:_SMALL], np.arange(_SMALL)]
    rows = np.array(list(dict.fromkeys(np.concatenate(chosen).tolist())), dtype=np.int64)
    rows = rows[: max(most, choice.asked.size)]
    return rows[number[rows] >= 0]


def _make_panels(
    result: NodePredictions, rows: NDArray[np.int64], number: NDArray[np.int64]
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
    result: NodePredictions,
    row: int,
    i: int,
    found: Contributors,
    number: NDArray[np.int64],
    without_own: bool,
) -> dict[str, Any]:
    rows = [result.positions[name] for name in found.names[i]]
    weights = found.weights[i].tolist()
    kept = [at for at, (r, w) in enumerate(zip(rows, weights, strict=True)) if number[r] >= 0 and w]
    drawn, edges = find_neighbourhood(
        result.adjacency, row, [rows[at] for at in kept], is_shown=number >= 0
    )
    panel: dict[str, Any] = {
        "i": int(number[row]),
        "left_out": without_own,
        "weights": [[int(number[rows[at]]), float(f"{weights[at]:.4g}")] for at in kept],
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
    """Return an array for JSON: base64 of little-endian numbers of a kind such as ``"<f8"``."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()
