"""Answers to requests about nodes, from the last finished state."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from starlette.responses import JSONResponse, Response

from gradraker.live.api.problems import RefusedError
from gradraker.live.api.schemas import PredictNew
from gradraker.live.learning.states import DEFAULT_COVERAGE, State, is_integer_name, to_plain
from gradraker.live.service import Service

Items = list[dict[str, Any]]
_MAX_INLINE = 500  # nodes; larger answers take more than a few milliseconds to write


def get_rows(state: State, nodes: Sequence[str] | None, *, field: str = "nodes") -> list[int]:
    """Return the rows of nodes; by default of all unknown nodes."""
    table = state.table
    if nodes is None:
        return np.flatnonzero(~table.is_known).tolist()
    rows = [table.positions.get(node, -1) for node in nodes]
    if -1 in rows:
        missing = [(f"{field}.{i}", node) for i, node in enumerate(nodes) if rows[i] < 0]
        raise RefusedError(
            422,
            f"{missing[0][0]}: {missing[0][1]!r} is not a node of the last finished state",
            [(where, f"{node!r} is not a node of the graph") for where, node in missing[:20]],
        )
    return rows


def check_options(state: State, *, coverage: float | None, probabilities: bool) -> None:
    """Refuse options that the model does not support."""
    table = state.table
    if table.predictions is None:
        raise RefusedError(409, "no value is known yet: put values first")
    if coverage is not None and not table.has_intervals:
        problem = f"must be left out: {table.facts['class']} has no intervals"
        raise RefusedError(422, f"coverage {problem}", [("coverage", problem)])
    if probabilities and table.probabilities is None:
        problem = "must be false: only labels have probabilities"
        raise RefusedError(422, f"probabilities {problem}", [("probabilities", problem)])


async def answer_nodes(
    service: Service, nodes: Sequence[str] | None, coverage: float | None, probabilities: bool
) -> Response:
    """Predict nodes of the graph."""
    state = service.get_state()
    table = state.table
    rows = get_rows(state, nodes)
    check_options(state, coverage=coverage, probabilities=probabilities)
    if coverage is None:
        ends = None
    elif coverage == DEFAULT_COVERAGE and table.intervals is not None:
        ends = table.intervals[rows]
    else:
        answer = service.predictor.call(state, lambda: _ask_intervals(state, rows, coverage))
        ends = await wait_for(answer, "coverage")
    service.counters.predictions.labels("known").inc(len(rows))
    if len(rows) > _MAX_INLINE:  # on a thread, so that others are answered meanwhile
        written: Response = await service.reader.call(
            state, lambda: JSONResponse(_list_predictions(state, rows, ends, probabilities))
        )
        return written
    return JSONResponse(_list_predictions(state, rows, ends, probabilities))


def _list_predictions(
    state: State, rows: Sequence[int], ends: Any, probabilities: bool
) -> dict[str, Any]:
    table = state.table
    assert table.predictions is not None
    found: Items = []
    for i, row in enumerate(rows):
        item: dict[str, Any] = {
            "node": table.names[row],
            "prediction": to_plain(table.predictions[row]),
            "known": bool(table.is_known[row]),
            "value": table.values[row],
        }
        if ends is not None:
            item |= {"lower": to_plain(ends[i, 0]), "upper": to_plain(ends[i, 1])}
        if probabilities and table.probabilities is not None:
            item["probabilities"] = name_classes(table.classes, table.probabilities[row])
        found.append(item)
    return {"state": table.seq, "predictions": found}


def _ask_intervals(state: State, rows: Sequence[int], coverage: float) -> Any:
    nodes = state.model.nodes_[list(rows)]
    return state.model.predict(nodes, return_interval=True, coverage=coverage)[1]


def name_classes(classes: Sequence[Any] | None, shares: Any) -> dict[str, float]:
    """Return probabilities by class."""
    return {str(label): float(p) for label, p in zip(classes or (), shares, strict=True)}


async def answer_new(service: Service, body: PredictNew) -> dict[str, Any]:
    """Predict nodes that are not in the graph, by their links and attributes."""
    state, coverage = service.get_state(), body.coverage
    check_options(state, coverage=coverage, probabilities=body.probabilities)
    links = {
        node: others if isinstance(others, dict) else dict.fromkeys(others, 1.0)
        for node, others in body.links.items()
    }
    check_links(state, links)
    check_attributes(state, links, body.attributes)
    options: dict[str, Any] = {"proba": True} if body.probabilities else {}
    if coverage is not None:
        options = {"return_interval": True, "coverage": coverage}
    if body.attributes:
        options["attributes"] = {state.to_name(n): own for n, own in body.attributes.items()}
    found = await wait_for(service.predictor.predict_new(state, links, options), "links")
    service.counters.predictions.labels("new").inc(len(links))
    items: Items = []
    for node in links:
        answer = found[node]
        item: dict[str, Any] = {"node": node}
        if coverage is not None:
            item |= dict(zip(("prediction", "lower", "upper"), to_plain(answer), strict=True))
        elif body.probabilities:
            shares = np.asarray(answer)
            classes = state.table.classes or []
            item["prediction"] = classes[int(shares.argmax())]
            item["probabilities"] = name_classes(classes, shares)
        else:
            item["prediction"] = to_plain(answer)
        items.append(item)
    return {"state": state.table.seq, "predictions": items}


def check_links(state: State, links: Mapping[str, Mapping[str, float]]) -> None:
    """Refuse new nodes that exist, links to nodes that do not, and weights of 0."""
    positions = state.table.positions
    problems = []
    for node, others in links.items():
        if node in positions:
            problems.append((f"links.{node}", "is a node of the graph: use /predict"))
        elif state.table.has_integer_names and not is_integer_name(node):
            problems.append((f"links.{node}", "must be an integer, as all names of this graph"))
        for other, weight in others.items():
            if other not in positions:
                problems.append((f"links.{node}.{other}", "is not a node of the graph"))
            elif weight == 0.0:
                problems.append((f"links.{node}.{other}", "must not be 0"))
        if len(problems) >= 20:
            break
    if problems:
        raise RefusedError(422, f"{problems[0][0]} {problems[0][1]}", problems)


def check_attributes(state: State, links: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """Refuse attributes that the model does not use, and those of nodes without links."""
    if attributes and not state.table.facts["attributes_are_learned"]:
        problem = "the model of this service started without attributes"
        raise RefusedError(422, f"attributes: {problem}", [("attributes", problem)])
    for node in attributes:
        if node not in links:
            problem = "is not in links: give it links, which may be empty"
            field = f"attributes.{node}"
            raise RefusedError(422, f"{field} {problem}", [(field, problem)])


async def answer_explain(service: Service, nodes: Sequence[str], top: int) -> dict[str, Any]:
    """Explain predictions by the known nodes that count most."""
    state = service.get_state()
    rows = get_rows(state, nodes)
    check_options(state, coverage=None, probabilities=False)
    answer = service.explainer.call(state, lambda: _explain(state, rows, top))
    items = await wait_for(answer, "nodes")
    return {"state": state.table.seq, "explanations": items}


def _explain(state: State, rows: Sequence[int], top: int) -> Items:
    model = state.second_model
    found = model.explain(model.nodes_[list(rows)])
    values = found.values if found.class_names is None else found.known_labels
    heaviest = found.find_heaviest(top)
    offsets = np.broadcast_to(np.asarray(found.offset), found.prediction.shape)
    return [
        {
            "node": state.table.names[row],
            "prediction": to_plain(found.predicted_labels[i]),
            "scale": None if found.units is None else found.units.scale,
            "sum": _list_by_class(found, found.prediction[i]),
            "offset": _list_by_class(found, offsets[i]),
            "known": [
                {
                    "node": str(found.known_names[j]),
                    "weight": to_plain(found.weights[i, j]),
                    # In the scale in which weights add up, or the class.
                    "value": to_plain(values[j]),
                }
                for j in heaviest[i].tolist()
            ],
            "rest": _list_by_class(found, _sum_of_others(found, i, heaviest[i])),
            "parts": found.get_parts(i),
        }
        for i, row in enumerate(rows)
    ]


def _list_by_class(found: Any, numbers: Any) -> Any:
    """Return a number of a prediction, or the numbers of all classes by their names."""
    if found.class_names is None:
        return to_plain(numbers)
    return name_classes(list(found.class_names), numbers)


def _sum_of_others(found: Any, i: int, listed: Any) -> Any:
    """Return the total contribution of the known nodes that are not listed."""
    weights = found.weights[i].copy()
    weights[listed] = 0.0
    return weights @ found.values


async def wait_for(answer: Any, field: str) -> Any:
    """Wait for the model; if it raises, the request is refused."""
    try:
        return await answer
    except (ValueError, TypeError) as error:
        problem = " ".join(str(error).split())
        raise RefusedError(422, problem, [(field, problem)]) from error
