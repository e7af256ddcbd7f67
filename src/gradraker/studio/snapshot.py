"""A snapshot: the page and the answers that it needs in one HTML file, without a server."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from gradraker.studio.answers.sigma2_lab import LabSettings
from gradraker.studio.page_files import STYLES, join_modules, read_file
from gradraker.studio.session import StateView

# Limits of the explanations in the file; those of a small graph all fit.
_MAX_PANEL_BYTES = 6_000_000
_MAX_PANELS = 2000


def collect_snapshot(view: StateView, node: str, settings: LabSettings) -> dict[str, Any]:
    """Return the answers of the API that a page without a server needs, by address."""
    answers: dict[str, Any] = {
        "studio/api/graph": view.describe_part("whole", 0),
        "studio/api/known": view.describe_known(),
    }

    def add(path: str, make: Callable[..., dict[str, Any]], *given: Any) -> None:
        try:
            found = make(*given)
        except ValueError as error:  # shown on the page
            found = {"problem": " ".join(str(error).split())}
        answers[f"studio/api/{path}"] = found

    for which in ("uncertainty", "left_out"):
        add(f"columns?which={which}", view.describe_columns, which, "whole", 0)
    d, repeat = f"d={settings.n_frequencies}", f"repeat={settings.repeat}"
    training = f"eta={settings.learning_rate:g}&e={settings.n_epochs}"
    add(f"sigma2/split?{d}&{repeat}", view.ask_lab, "split", settings)
    for name in ("curve", "mean", "rules"):
        add(f"sigma2/{name}?{d}&{training}&{repeat}", view.ask_lab, name, settings)
    add("replay?seed=0", view.replay, 0)
    answers |= _collect_panels(view, node)
    return answers


def _collect_panels(view: StateView, node: str) -> dict[str, Any]:
    table = view.state.table
    if table.predictions is None:
        return {}
    chosen = [node] if node in table.positions else []
    n_known = int(table.is_known.sum())
    n_max = min(_MAX_PANELS, _MAX_PANEL_BYTES // (16 * max(1, n_known)))
    shown = view.whole.rows.tolist() if view.whole.kind == "whole" else []
    names = dict.fromkeys([*chosen, *(table.names[i] for i in shown[:n_max])])
    found = {}
    for name in names:
        address = f"studio/api/node?node={quote(name, safe='', errors='surrogatepass')}"
        found[address] = view.explain(table.positions[name], left_out=False)
    return found


def render_snapshot(answers: Mapping[str, Any]) -> str:
    """Return the page as one self-contained file."""
    script = join_modules()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    style = "\n".join(read_file(name) for name in STYLES)
    style_digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'sha256-{style_digest}'; "
        "img-src blob:; base-uri 'none'; form-action 'none'"
    )
    data = json.dumps(dict(answers), allow_nan=False, separators=(",", ":"))
    for sign in "<>&":  # so that the data cannot end its element
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    page = read_file("studio.html")
    head, rest = page.split("<!-- files -->")
    _, body = rest.split("<!-- end of files -->")
    return (
        f'{head}<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>{style}</style>{body}".replace(
            "</body>",
            f'<script type="application/json" id="answers">{data}</script>\n'
            f"<script>{script}</script>\n</body>",
        )
    )
