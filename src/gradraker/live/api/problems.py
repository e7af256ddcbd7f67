"""Errors as answers: a sentence and the fields, never a stack trace."""

import logging
from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse

from gradraker.live.service import NotKeptError, NotReadyError, TooBusyError

_LOG = logging.getLogger("gradraker.live")


class RefusedError(HTTPException):
    """A request is refused, with a status and the fields that are wrong."""

    def __init__(self, status: int, error: str, fields: Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(status, error)
        self.fields = tuple(fields)


def make_problem(
    status: int, error: str, fields: Iterable[tuple[str, str]] = (), *, seconds: int | None = None
) -> JSONResponse:
    """Return an answer with the reason of a refusal, and when to retry."""
    listed = [{"field": _clean(field), "problem": _clean(problem)} for field, problem in fields]
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": _clean(error), "fields": listed}, status, headers)


def _clean(text: str) -> str:
    """Return text that can be encoded, shortened to 300 characters."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 300 else f"{text[:297]}..."


def list_fields(errors: Iterable[Any], *, skip: int = 0) -> list[tuple[str, str]]:
    """Return fields and problems of pydantic errors; ``skip`` parts of their places are cut."""
    found = []
    for error in errors:
        place = ".".join(str(part) for part in error["loc"][skip:])
        found.append((place.strip("."), str(error["msg"]).removeprefix("Value error, ")))
    return list(dict.fromkeys(found))[:20]


def add_handlers(app: FastAPI) -> None:
    """Turn every error of the API into an answer of one form."""

    @app.exception_handler(RequestValidationError)
    async def refuse_fields(_: Request, error: Any) -> JSONResponse:
        errors = error.errors()
        if any(e["type"] == "json_invalid" for e in errors):
            at = next(e["loc"][-1] for e in errors if e["type"] == "json_invalid")
            problem = f"is not JSON at character {at}"
            return make_problem(400, f"the body {problem}", [("body", problem)])
        fields = list_fields(errors, skip=1)
        if isinstance(error.body, bytes):  # it was not read as JSON
            fields = [("Content-Type", "must be application/json")]
        first = f"{fields[0][0] or 'body'}: {fields[0][1]}" if fields else "the request is refused"
        return make_problem(422, first, [(name or "body", problem) for name, problem in fields])

    @app.exception_handler(StarletteHTTPException)
    async def refuse(_: Request, error: Any) -> JSONResponse:
        answer = make_problem(error.status_code, str(error.detail), getattr(error, "fields", ()))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(TooBusyError)
    async def put_off(_: Request, error: Any) -> JSONResponse:
        return make_problem(429, str(error), seconds=error.seconds)

    @app.exception_handler(NotReadyError)
    async def handle_not_ready(_: Request, error: Any) -> JSONResponse:
        return make_problem(503, "the first state is still being learned", seconds=1)

    @app.exception_handler(NotKeptError)
    async def handle_not_kept(_: Request, error: Any) -> JSONResponse:
        status = 507 if error.is_full else 503
        return make_problem(status, f"{error}: the changes were not kept", seconds=5)

    @app.exception_handler(Exception)
    async def fail(request: Request, error: Exception) -> JSONResponse:
        _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return make_problem(500, "an error of the service; see its log")
