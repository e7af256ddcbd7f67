"""Pages: the live page, and the description of the API."""

import json
from html import escape
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from gradraker.live.api.schemas import Changes

FILES = {
    "/": "index.html",
    "/live.css": "live.css",
    "/live.js": "live.js",
    "/favicon.ico": "icon.svg",
}
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
# Bodies that work on the data of `gradraker serve --demo`.
_EXAMPLES = {
    "/edges": {"edges": [{"source": "Davos", "target": "Arosa", "weight": 1.0}]},
    "/values": {"values": {"Davos": -5.3}},
    "/attributes": {"attributes": {"Davos": {"altitude": 1594}}},
    "/remove": {"values": ["Davos"]},
    "/changes": {"changes": [{"op": "put_value", "node": "Davos", "value": -5.3}]},
    "/predict": {"nodes": ["Davos"], "coverage": 0.9},
    "/predict-new": {"links": {"new station": ["Davos", "Arosa"]}},
    "/explain": {"nodes": ["Davos"], "top": 3},
}


def read_file(name: str, package: str = "gradraker.live.api") -> str:
    """Return the text of a static file."""
    return resources.files(package).joinpath("static", name).read_text(encoding="utf-8")


def add_file(app: FastAPI, path: str, content: str, name: str, **headers: str) -> None:
    """Add a static file to an application; its type follows from its suffix."""
    kind = _KINDS[name.rpartition(".")[2]]

    async def get_file(_: Request) -> Response:
        return Response(content, media_type=kind, headers=headers)

    app.router.add_route(path, get_file, methods=["GET"])


def describe_api(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description, with the request bodies that FastAPI does not know."""
    found: dict[str, Any] = FastAPI.openapi(app)
    schemas = found["components"]["schemas"]
    if "Changes" not in schemas:
        changes = Changes.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= changes.pop("$defs")
        schemas["Changes"] = changes
        for path, example in _EXAMPLES.items():
            for verb in found["paths"][path].values():
                if "requestBody" in verb:
                    verb["requestBody"]["content"]["application/json"]["example"] = example
    return found


def render_docs(description: dict[str, Any]) -> str:
    """Return the description of the API as a page."""
    verbs = []
    for path, methods in description["paths"].items():
        for method, verb in methods.items():
            lines = [
                f'<h2><span class="method">{method.upper()}</span> '
                f"<code>{escape(path)}</code></h2>",
                f"<p>{escape(verb['summary'])}</p>",
            ]
            lines += [_render_parameter(parameter) for parameter in verb.get("parameters", ())]
            body = verb.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" in body:
                text = json.dumps(body["example"], indent=2, ensure_ascii=False)
                lines.append(f"<pre>{escape(text)}</pre>")
            answers = ", ".join(
                f"{code} {answer['description']}" for code, answer in verb["responses"].items()
            )
            lines.append(f'<p class="note">Answers: {escape(answers)}</p>')
            verbs.append("\n".join(lines))
    return read_file("docs.html").replace("<!-- verbs -->", "\n".join(verbs))


def _render_parameter(parameter: dict[str, Any]) -> str:
    needed = "" if parameter.get("required") else " (optional)"
    about = f": {parameter['description']}" if "description" in parameter else ""
    return f'<p class="note"><code>{escape(parameter["name"])}</code>{needed}{escape(about)}</p>'
