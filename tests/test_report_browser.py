"""The page in a real browser: no complaint on its console, and figures that are drawn."""

import json
import shutil
import subprocess

import pytest

import gradraker
from gradraker.report import prediction_report, prediction_summary

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
# What the browser itself says about the page, among much that it says about the machine.
CONSOLE = ":CONSOLE"
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


def browser():
    return next(filter(None, map(shutil.which, BROWSERS)), None)


pytestmark = pytest.mark.skipif(
    browser() is None, reason=f"no browser is installed (looked for {', '.join(BROWSERS)})"
)


@pytest.fixture(scope="module")
def page():
    data = gradraker.load_temperature()
    names = list(data.node_names)
    names[60] = "<script>alert(1)</script>"  # the first of the predicted nodes
    entries = data.adjacency.tocoo()
    edges = [(names[i], names[j]) for i, j in zip(*entries.coords, strict=True)]
    known = dict(zip(names[:60], data.values[:60].tolist(), strict=True))
    summary = prediction_summary(gradraker.predict_unknown(edges, known), n_contributors=2)
    return prediction_report(summary)


def load(text, folder, *, size="1200,900"):
    """DOM of a page after loading, and what its console said."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            browser(),
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={size}",
            "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if CONSOLE in line]


def probed(page):
    """A copy of the page that may run the probe, and nothing else from outside."""
    assert POLICY in page
    allowed = page.replace(POLICY, f"{POLICY}script-src 'unsafe-inline'; ", 1)
    return allowed.replace("</head>", f"{PROBE}</head>", 1)


def measured(dom):
    text = dom.split('data-probe="', 1)[1].split('"', 1)[0]
    return json.loads(text.replace("&quot;", '"').replace("&amp;", "&"))


def test_console_messages_are_seen(tmp_path):
    # The test below would pass for ever if the browser stopped to report errors.
    _, console = load("<!DOCTYPE html><script>no_such_name()</script>", tmp_path)
    assert any("no_such_name" in line for line in console)


def test_page_loads_without_console_messages(page, tmp_path):
    dom, console = load(page, tmp_path)
    assert console == []
    assert dom.count("<svg") == 3
    assert "alert(1)" in dom
    assert "<script" not in dom


@pytest.mark.parametrize("size", ["1200,900", "500,900"])
def test_figures_are_drawn_and_the_page_fits(page, tmp_path, size):
    dom, console = load(probed(page), tmp_path, size=size)
    assert console == []
    found = measured(dom)
    assert found["title"] == "Predicted node values"
    assert len(found["figures"]) == 3
    for width, height in found["figures"]:
        assert width > 300
        assert height > 90
    assert all(parts > 10 for parts in found["parts"])
    assert found["overflow"] <= 0  # nothing to scroll sideways


def test_the_policy_of_the_page_stops_scripts(page, tmp_path):
    evil = page.replace("</body>", "<script>document.title = 'taken'</script></body>", 1)
    dom, console = load(evil, tmp_path)
    assert "<title>Predicted node values</title>" in dom
    assert any("Content Security Policy" in line for line in console)
