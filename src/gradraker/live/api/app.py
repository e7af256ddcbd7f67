"""The HTTP API of a live service."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request, Security
from fastapi.security import HTTPBearer
from pydantic import ValidationError
from starlette.responses import JSONResponse, Response, StreamingResponse

from gradraker import __version__
from gradraker.live.api import pages
from gradraker.live.api.answers import answer_explain, answer_new, answer_nodes, get_rows
from gradraker.live.api.changing import NDJSON, keep, read_lines
from gradraker.live.api.problems import RefusedError, add_handlers, list_fields
from gradraker.live.api.safety import Guard
from gradraker.live.api.schemas import (
    Changes,
    ExplainNodes,
    Kept,
    Name,
    Predictions,
    PredictNew,
    PredictNodes,
    Problem,
    PutAttributes,
    PutEdges,
    PutValues,
    Remove,
    list_changes,
)
from gradraker.live.api.strict_json import StrictRoute
from gradraker.live.journal.validation import read_validations, summarize_errors
from gradraker.live.service import Service
from gradraker.live.settings import MAX_NAME_LENGTH

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=MAX_NAME_LENGTH,
        pattern=r"^[\x21-\x7e]+$",
        description="A request that is sent again with the same key counts once.",
    ),
]
_REFUSED: Any = {
    400: {"model": Problem, "description": "Not JSON"},
    413: {"model": Problem, "description": "Too large"},
    422: {"model": Problem, "description": "A field is wrong"},
    429: {"model": Problem, "description": "Too much at once: try again later"},
    503: {"model": Problem, "description": "Not ready: try again later"},
}
_CHANGE: Any = {
    "response_model": Kept,
    "responses": _REFUSED
    | {
        401: {"model": Problem, "description": "No token, or a wrong one"},
        403: {"model": Problem, "description": "Sent by another site"},
        409: {"model": Problem, "description": "The key was used for other changes"},
        507: {"model": Problem, "description": "The disk is full: nothing was written"},
    },
    "dependencies": [Security(HTTPBearer(auto_error=False))],
    "tags": ["changes"],
}
_QUESTION: Any = {
    "responses": _REFUSED | {409: {"model": Problem, "description": "No value is known yet"}},
    "tags": ["questions"],
}
_FACT: Any = {"responses": {422: _REFUSED[422], 503: _REFUSED[503]}, "tags": ["facts"]}


AddRoutes = Callable[[FastAPI, Service], None]


def make_app(service: Service, *, add_routes: AddRoutes | None = None) -> FastAPI:
    """Make the application of a service; ``add_routes`` adds pages to it."""

    @asynccontextmanager
    async def run_service(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.stop()

    app = FastAPI(
        title="gradraker live",
        version=__version__,
        description="A model of a graph that learns while it serves.",
        lifespan=run_service,
        docs_url=None,
        redoc_url=None,
        root_path=service.settings.root_path,
    )
    app.router.route_class = StrictRoute
    add_handlers(app)
    _add_changes(app, service)
    _add_questions(app, service)
    _add_facts(app, service)
    for path, name in pages.FILES.items():
        pages.add_file(app, path, pages.read_file(name), name)

    async def get_docs(_: Request) -> Response:
        return Response(pages.render_docs(app.openapi()), media_type="text/html; charset=utf-8")

    app.router.add_route("/docs", get_docs, methods=["GET"])
    if add_routes is not None:
        add_routes(app, service)
    app.openapi = lambda: pages.describe_api(app)  # type: ignore[method-assign]
    app.add_middleware(Guard, settings=service.settings, counters=service.counters)
    return app


def _add_changes(app: FastAPI, service: Service) -> None:
    @app.put("/edges", summary="Put edges", **_CHANGE)
    async def put_edges(body: PutEdges, key: Key = None) -> Any:
        return JSONResponse(await keep(service, list_changes(body), key))

    @app.put("/values", summary="Put values", **_CHANGE)
    async def put_values(body: PutValues, key: Key = None) -> Any:
        return JSONResponse(await keep(service, list_changes(body), key))

    @app.put("/attributes", summary="Put attributes", **_CHANGE)
    async def put_attributes(body: PutAttributes, key: Key = None) -> Any:
        return JSONResponse(await keep(service, list_changes(body), key))

    @app.post("/remove", summary="Remove edges, values, attributes or nodes", **_CHANGE)
    async def remove(body: Remove, key: Key = None) -> Any:
        return JSONResponse(await keep(service, list_changes(body), key))

    ndjson = {kind: {"schema": {"type": "string"}} for kind in NDJSON[:1]}
    schema = {"$ref": "#/components/schemas/Changes"}
    content = {"application/json": {"schema": schema}, **ndjson}

    @app.post(
        "/changes",
        summary="Changes of any kind, as JSON or as NDJSON with one change per line",
        openapi_extra={"requestBody": {"content": content, "required": True}},
        **_CHANGE,
    )
    async def put_changes(request: Request, key: Key = None) -> Any:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in NDJSON:
            return JSONResponse(await keep(service, await read_lines(request), key))
        if kind != "application/json":
            raise RefusedError(
                415,
                f"Content-Type must be application/json or {NDJSON[0]}",
                [("Content-Type", f"is {kind!r}")],
            )
        return JSONResponse(await keep(service, list_changes(await _read_changes(request)), key))


async def _read_changes(request: Request) -> Changes:
    try:
        given = await request.json()
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is not JSON", [("body", "is not JSON")]) from None
    try:
        return Changes.model_validate(given)
    except ValidationError as error:
        fields = list_fields(error.errors())
        raise RefusedError(422, f"{fields[0][0]}: {fields[0][1]}", fields) from None


def _add_questions(app: FastAPI, service: Service) -> None:
    @app.get("/predict", summary="Predict nodes", response_model=Predictions, **_QUESTION)
    async def get_predictions(
        node: Annotated[list[Name], Query(min_length=1, max_length=100)],
        coverage: Annotated[float | None, Query(ge=1e-6, le=1.0 - 1e-6)] = None,
        probabilities: bool = False,
    ) -> Any:
        return await answer_nodes(service, node, coverage, probabilities)

    @app.post("/predict", summary="Predict nodes", response_model=Predictions, **_QUESTION)
    async def predict(body: PredictNodes) -> Any:
        return await answer_nodes(service, body.nodes, body.coverage, body.probabilities)

    @app.post(
        "/predict-new",
        summary="Predict nodes that are not in the graph, by their links and attributes",
        response_model=Predictions,
        **_QUESTION,
    )
    async def predict_new(body: PredictNew) -> Any:
        return JSONResponse(await answer_new(service, body))

    @app.post("/explain", summary="Known nodes that count most in predictions", **_QUESTION)
    async def explain(body: ExplainNodes) -> Any:
        return JSONResponse(await answer_explain(service, body.nodes, body.top))


def _add_facts(app: FastAPI, service: Service) -> None:
    @app.get("/state", summary="State of the service", **_FACT)
    async def get_state() -> Any:
        return JSONResponse(service.describe())

    @app.get("/errors", summary="Errors of predictions made before values were learned", **_FACT)
    async def get_errors(last: Annotated[int, Query(ge=1, le=100_000)] = 1000) -> Any:
        found = await service.read(
            lambda: summarize_errors(service.journal, last=last, is_label=service.has_labels)
        )
        return JSONResponse(found)

    @app.get("/learned", summary="The last values and their predictions before learning", **_FACT)
    async def get_learned(last: Annotated[int, Query(ge=1, le=1000)] = 20) -> Any:
        found = await service.read(lambda: read_validations(service.journal, last=last))
        return JSONResponse({"learned": [asdict(validation) for validation in found]})

    @app.get("/history", summary="Changes that name a node, the newest first", **_FACT)
    async def get_history(
        node: Name,
        before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Any:
        found = await service.read(
            lambda: service.journal.read_history(node, before=before, limit=limit)
        )
        if not found:
            get_rows(service.get_state(), [node], field="node")
        listed = [{"seq": n.seq, "time": n.time, **n.change.to_dict()} for n in found]
        return JSONResponse({"node": node, "changes": listed})

    @app.get("/events", summary="Server-sent events: one for each new state", **_FACT)
    async def get_events() -> Any:
        state = service.get_state()
        service.hub.check_capacity()
        events = service.hub.listen(service.describe_state_event(state))
        headers = {"X-Accel-Buffering": "no"}  # a proxy must not buffer events
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    @app.get("/metrics", summary="Metrics for Prometheus", tags=["facts"])
    async def get_metrics() -> Response:
        return Response(service.measure(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/health", summary="Whether the process is alive", tags=["facts"])
    async def get_health() -> Any:
        is_well = service.state is not None and not service.trouble and not service.writer.is_full
        status = "starting" if service.state is None else "ok" if is_well else "trouble"
        return JSONResponse({"status": status, "token_for": service.settings.token_for})

    @app.get("/ready", summary="Whether requests can be answered", **_FACT)
    async def get_ready() -> Any:
        service.get_state()
        return JSONResponse({"status": "ready"})
