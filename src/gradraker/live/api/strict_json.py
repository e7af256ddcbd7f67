"""Strict JSON: a name must occur once in an object, since one of its values would be lost."""

import json
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from gradraker.live.api.problems import RefusedError


class RepeatedNameError(ValueError):
    """An object has two members with the same name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is given twice")
        self.name = name


def load_json(text: bytes) -> Any:
    """Parse JSON; raise RepeatedNameError if an object has two members with the same name."""
    return json.loads(text, object_pairs_hook=_join)


def _join(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise RepeatedNameError(counts.most_common(1)[0][0])
    return found


class _StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return load_json(await self.body())
        except RepeatedNameError as error:
            raise RefusedError(422, str(error), [(error.name, "is given twice")]) from None


class StrictRoute(APIRoute):
    """A route whose requests are read strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly
