"""The page and its API, added to the application of a live service."""

import json
import os
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, FastAPI, Query
from pydantic import Field
from starlette.responses import Response

from gradraker.live.api.pages import add_file
from gradraker.live.api.problems import RefusedError
from gradraker.live.api.schemas import Body
from gradraker.live.server import open_journal, serve
from gradraker.live.service import Service
from gradraker.live.settings import MAX_NUMBER, Settings
from gradraker.studio.answers.sigma2_lab import MAX_EPOCHS, LabSettings
from gradraker.studio.page_files import FILES, POLICY, read_file
from gradraker.studio.session import StateView, Studio
from gradraker.studio.snapshot import collect_snapshot, render_snapshot
from gradraker.studio.studio_options import StudioOptions

if TYPE_CHECKING:
    from gradraker.models import NodeModel

# Names may come from files, and be longer than the API allows for new ones.
_Node = Annotated[str, Query(max_length=20_000)]
_Kind = Annotated[str, Query(pattern="^(whole|community|around)$")]
_Number = Annotated[int, Query(ge=0, lt=2**31)]
_D = Annotated[int, Query(ge=1, le=2000)]
_Eta = Annotated[float, Query(gt=0.0, lt=1.0)]
_E = Annotated[int, Query(ge=1, le=MAX_EPOCHS)]
_Repeat = Annotated[int, Query(ge=0, le=1000)]
_Numbers = Annotated[
    dict[str, Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]],
    Field(default_factory=dict, max_length=100),
]
_API: Any = {"tags": ["studio"], "include_in_schema": False}


class ImagineChanges(Body):
    """A node, and imagined links of it or imagined known values, by the names of other nodes."""

    node: Annotated[str, Field(max_length=20_000)]
    links: _Numbers
    values: _Numbers


class SwitchStream(Body):
    """Start or stop the stream, or submit its next value."""

    on: bool | None = None
    step: bool = False


def serve_studio(
    model: "NodeModel",
    page: StudioOptions,
    *,
    port: int,
    token: str,
    on_listen: Callable[[int], None],
) -> None:
    """Serve the page of a model to this machine, from a temporary journal, until told to stop."""
    with tempfile.TemporaryDirectory(prefix="gradraker-studio-") as folder:
        path = os.path.join(folder, "studio.db")
        journal, _ = open_journal(path, lambda: model)
        serve(
            journal,
            Settings(journal=path, port=port, token=token),
            background=None if page.stream is None else page.stream.run,
            on_listen=on_listen,
            add_routes=lambda app, service: add_studio(app, service, page),
        )


def add_studio(app: FastAPI, service: Service, options: StudioOptions | None = None) -> None:
    """Add the page at ``/studio`` to the application of a live service."""
    studio = Studio(service, options or StudioOptions())
    for path, name in FILES.items():
        add_file(app, path, read_file(name), name, **{"Content-Security-Policy": POLICY})
    _add_graph(app, studio)
    _add_nodes(app, studio)
    _add_sigma2(app, studio)
    _add_streams(app, studio)
    _add_snapshot(app, studio)


def _answer(found: Any) -> Response:
    """Return JSON in ASCII, since names may hold characters that UTF-8 cannot encode."""
    text = json.dumps(found, allow_nan=False, separators=(",", ":"))
    return Response(text, media_type="application/json")


async def _ask(studio: Studio, work: Any, *, thread: str = "studio") -> Response:
    """Answer with the result, or with the reason if the model cannot compute it."""
    try:
        return _answer(await studio.ask(work, thread=thread))
    except (ValueError, TypeError) as error:
        return _answer({"problem": " ".join(str(error).split())})
    except ImportError as error:
        raise RefusedError(501, str(error)) from error


def _find_row(view: StateView, node: str) -> int:
    row = view.state.table.positions.get(node)
    if row is None:
        raise RefusedError(
            422, f"{node[:100]!r} is not a node of the graph", [("node", "is unknown")]
        )
    return row


def _add_graph(app: FastAPI, studio: Studio) -> None:
    @app.get("/studio/api/about", **_API)
    async def get_about() -> Response:
        return _answer(studio.describe())

    @app.get("/studio/api/graph", **_API)
    async def get_graph(kind: _Kind = "whole", community: _Number = 0, node: _Node = "") -> Any:
        def describe(view: StateView) -> Any:
            number = _find_row(view, node) if kind == "around" else community
            return view.describe_part(kind, number)

        return await _ask(studio, describe)

    @app.get("/studio/api/columns", **_API)
    async def get_columns(
        which: Annotated[str, Query(pattern="^(uncertainty|left_out)$")],
        kind: _Kind = "whole",
        community: _Number = 0,
        node: _Node = "",
    ) -> Any:
        def describe(view: StateView) -> Any:
            number = _find_row(view, node) if kind == "around" else community
            return view.describe_columns(which, kind, number)

        return await _ask(studio, describe)

    @app.get("/studio/api/search", **_API)
    async def get_matches(text: Annotated[str, Query(min_length=1, max_length=256)]) -> Any:
        return await _ask(studio, lambda view: view.search(text))


def _add_nodes(app: FastAPI, studio: Studio) -> None:
    @app.get("/studio/api/known", **_API)
    async def get_known() -> Any:
        return await _ask(studio, lambda view: view.describe_known())

    @app.get("/studio/api/node", **_API)
    async def get_node(node: _Node, left_out: bool = False) -> Any:
        def explain(view: StateView) -> Any:
            return view.explain(_find_row(view, node), left_out=left_out)

        return await _ask(studio, explain)

    @app.post("/studio/api/imagine", **_API)
    async def imagine(body: ImagineChanges) -> Any:
        if not body.links and not body.values:
            raise RefusedError(422, "give links or values", [("links", "are missing")])

        def work(view: StateView) -> Any:
            row = _find_row(view, body.node)
            links = {_find_row(view, other): weight for other, weight in body.links.items()}
            if 0.0 in links.values():
                raise ValueError("a link must have a weight that is not 0")
            if row in links:
                raise ValueError("a node cannot be linked with itself here")
            values = {_find_row(view, other): value for other, value in body.values.items()}
            return view.imagine(row, links, values)

        return await _ask(studio, work)


async def _read_settings(
    d: _D = 200, eta: _Eta = 0.1, e: _E = 3, repeat: _Repeat = 0
) -> LabSettings:
    return LabSettings(d, eta, e, repeat)


_Settings = Annotated[LabSettings, Depends(_read_settings)]


def _add_sigma2(app: FastAPI, studio: Studio) -> None:
    def add(name: str, thread: str) -> None:
        @app.get(f"/studio/api/sigma2/{name}", **_API)
        async def get_answer(settings: _Settings) -> Any:
            return await _ask(studio, lambda view: view.ask_lab(name, settings), thread=thread)

    add("split", "sigma2")
    add("curve", "sigma2")
    add("mean", "means")
    add("rules", "means")


def _add_streams(app: FastAPI, studio: Studio) -> None:
    @app.get("/studio/api/replay", **_API)
    async def get_replay(seed: Annotated[int, Query(ge=0, lt=2**31)] = 0) -> Any:
        return await _ask(studio, lambda view: view.replay(seed), thread="replay")

    @app.post("/studio/api/stream", **_API)
    async def switch_stream(body: SwitchStream) -> Any:
        stream = studio.options.stream
        if stream is None:
            raise RefusedError(409, "this service has no stream that can be controlled")
        if body.on is not None:
            stream.switch(body.on)
        if body.step:
            await stream.step(studio.service)
        return _answer({"on": stream.is_on})


def _add_snapshot(app: FastAPI, studio: Studio) -> None:
    @app.get("/studio/api/snapshot", **_API)
    async def get_snapshot(settings: _Settings, node: _Node = "") -> Response:
        try:
            answers = await studio.ask(lambda view: collect_snapshot(view, node, settings))
        except (ValueError, TypeError) as error:
            raise RefusedError(422, " ".join(str(error).split())) from error
        about = studio.describe() | {"is_snapshot": True, "stream": None}
        page = render_snapshot({**answers, "studio/api/about": about})
        return Response(page, media_type="text/html; charset=utf-8")
