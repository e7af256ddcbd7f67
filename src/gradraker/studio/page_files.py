"""The files of the page: plain HTML, CSS and JavaScript modules."""

import re
from functools import partial

from gradraker.live.api import pages

# Modules, each after those that it imports.
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
# Pictures are made from the charts themselves (blob:); nothing is loaded from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = {"/studio": "studio.html"} | {f"/studio/{name}": name for name in (*STYLES, *MODULES)}
read_file = partial(pages.read_file, package="gradraker.studio")


def join_modules() -> str:
    """Return all modules as one script, for a page that is a single file.

    Modules share one scope there, so no two of them may define the same name.
    """
    texts = []
    for name in MODULES:
        text = re.sub(r"^import .*?;\n", "", read_file(name), flags=re.MULTILINE | re.DOTALL)
        texts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return '"use strict";\n' + "\n".join(texts)
