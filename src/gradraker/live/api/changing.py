"""Requests that change something: check them, write them to the journal, acknowledge them."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

from gradraker.live.api.problems import RefusedError, list_fields
from gradraker.live.api.schemas import OneChange, to_change
from gradraker.live.api.strict_json import RepeatedNameError, load_json
from gradraker.live.journal.changes import Change
from gradraker.live.journal.writing import KeyConflict, Submission, UnknownNode
from gradraker.live.learning.states import is_integer_name
from gradraker.live.service import Service
from gradraker.live.settings import MAX_ITEMS

_LINE: TypeAdapter[Any] = TypeAdapter(OneChange)
NDJSON = ("application/x-ndjson", "application/jsonl", "application/ndjson")
_MAX_PROBLEMS = 20

# Fields of a request, and the changes that they describe.
RequestedChanges = Sequence[tuple[str, Change]]


async def keep(service: Service, requested: RequestedChanges, key: str | None) -> dict[str, Any]:
    """Write changes to the journal; when this returns they are on disk."""
    if not 0 < len(requested) <= MAX_ITEMS:
        most = f"holds {len(requested)} changes, and at most {MAX_ITEMS} are allowed"
        problem = most if requested else "holds no change"
        raise RefusedError(422, f"the request {problem}", [("body", problem)])
    found = ((field, find_problem(service, change)) for field, change in requested)
    problems = [(field, problem) for field, problem in found if problem is not None]
    if problems:
        raise RefusedError(422, f"{problems[0][0]} {problems[0][1]}", problems[:_MAX_PROBLEMS])
    answer = await service.submit(Submission(tuple(change for _, change in requested), key))
    if isinstance(answer, UnknownNode):
        problem = f"{answer.name!r} is not a node of the graph: put an edge of it first"
        field = requested[answer.position][0]
        raise RefusedError(422, f"{field}: {problem}", [(field, problem)])
    if isinstance(answer, KeyConflict):
        problem = "was used before, for other changes"
        raise RefusedError(409, f"Idempotency-Key {problem}", [("Idempotency-Key", problem)])
    return {
        "first_seq": answer.first_seq,
        "last_seq": answer.last_seq,
        "repeated": answer.is_repeat,
        "state": service.state.table.seq if service.state else None,
    }


def find_problem(service: Service, change: Change) -> str | None:
    """Return a problem of a change that its schema does not catch."""
    if change.op == "put_edge" and change.value == 0.0:
        return "must have a weight that is not 0: remove the edge instead"
    if change.op == "put_edge" and abs(change.value) < 1e-100:
        return "must have a weight of at least 1e-100"
    if change.op == "put_value":
        if service.has_labels and isinstance(change.value, float):
            return "must be a label: a string or an integer"
        kinds = service.state.table.label_kinds if service.state else (str, int)
        if service.has_labels and not isinstance(change.value, kinds):
            return "must be of the kind of all labels here, strings or integers"
        if not service.has_labels and isinstance(change.value, str):
            return "must be a finite number"
    if service.facts["names"] == "integers":
        for name in (change.node, change.target):
            if name is not None and not is_integer_name(name):
                return f"names {name!r}, but all names of this graph are integers"
    return None


async def read_lines(request: Request) -> list[tuple[str, Change]]:
    """Return the changes of an NDJSON body, one per line; blank lines are skipped."""
    found: list[tuple[str, Change]] = []
    problems: list[tuple[str, str]] = []
    for number, line in enumerate((await request.body()).split(b"\n"), start=1):
        if not line.strip():
            continue
        field = f"line {number}"
        try:
            # Not pydantic's own parser, which accepts other input than that of JSON bodies.
            found.append((field, to_change(_LINE.validate_python(load_json(line)))))
        except ValidationError as error:
            problems += [
                (f"{field}: {where}" if where else field, problem)
                for where, problem in list_fields(error.errors(), skip=1)
            ]
        except RepeatedNameError as error:
            problems.append((f"{field}: {error.name}", "is given twice"))
        except (ValueError, RecursionError):
            problems.append((field, "is not JSON"))
        if len(problems) >= _MAX_PROBLEMS or len(found) > MAX_ITEMS:
            break
    if problems:
        raise RefusedError(422, f"{problems[0][0]}: {problems[0][1]}", problems)
    return found
