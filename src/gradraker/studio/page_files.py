"""The files of the page: plain HTML, CSS and JavaScript modules of ours."""

import re
from importlib import resources

# Modules in an order in which each one comes after those that it imports.
MODULES = (
    "basics.js",
    "colours.js",
    "server.js",
    "charts.js",
    "drawing.js",
    "canvas.js",
    "graph_view.js",
    "search.js",
    "panel.js",
    "whatif.js",
    "edit.js",
    "table.js",
    "learner.js",
    "sigma2_charts.js",
    "sigma2_view.js",
    "stream_view.js",
    "share.js",
    "main.js",
)
STYLES = ("studio.css", "panel.css")
# Pictures of charts are drawn from the charts themselves (blob:); nothing comes from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}


def read_file(name: str) -> str:
    """Return the text of a file of the page."""
    folder = resources.files("gradraker.studio").joinpath("static")
    return folder.joinpath(name).read_text(encoding="utf-8")


def list_files() -> list[tuple[str, bytes, str]]:
    """Return paths, contents and types of the files of the page."""
    found = [("/studio", read_file("studio.html").encode(), _KINDS["html"])]
    for name in (*STYLES, *MODULES):
        kind = _KINDS[name.rpartition(".")[2]]
        found.append((f"/studio/{name}", read_file(name).encode(), kind))
    return found


def join_modules() -> str:
    """Return all modules as one script, for a page that is a single file.

    Modules share one scope there, so no two of them may define the same name.
    """
    texts = []
    for name in MODULES:
        text = re.sub(r"^import .*?;\n", "", read_file(name), flags=re.MULTILINE | re.DOTALL)
        texts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return '"use strict";\n' + "\n".join(texts)
