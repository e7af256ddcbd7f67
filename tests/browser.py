"""A real browser for pages: what they look like to a reader, and what its console says."""

import json
import shutil
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--enable-logging=stderr",
    "--v=0",
)
# Added to a copy of the page. It measures what a reader would see, and leaves it in the page.
PROBE = """<script>
addEventListener("load", () => {
  const box = e => { const r = e.getBoundingClientRect(); return [r.width, r.height]; };
  const found = {
    figures: [...document.querySelectorAll("figure svg")].map(box),
    parts: [...document.querySelectorAll("figure svg")].map(e => e.querySelectorAll("path").length),
    overflow: document.documentElement.scrollWidth - innerWidth,
    width: innerWidth,
    title: document.title,
  };
  document.body.setAttribute("data-probe", JSON.stringify(found));
});
</script>"""
POLICY = "default-src 'none'; "


def browser() -> Any:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


MISSING = f"no browser is installed (looked for {', '.join(BROWSERS)})"


def probed(page: str) -> str:
    """A copy of the page that may run the probe, and nothing else from outside."""
    assert POLICY in page
    allowed = page.replace(POLICY, f"{POLICY}script-src 'unsafe-inline'; ", 1)
    return allowed.replace("</head>", f"{PROBE}</head>", 1)


def measured(dom: str) -> Any:
    text = dom.split('data-probe="', 1)[1].split('"', 1)[0]
    return json.loads(text.replace("&quot;", '"').replace("&amp;", "&"))
