"""The studio in a real browser: response times.

``gradraker studio`` on a graph of 10 000 nodes and 100 000 edges with communities, 2000 of them
known, opened in the machine's Chromium by Playwright, drawn in software. Measured in the browser:
from a click to the prediction, and to the weights of all known nodes; frames while panning and
zooming; from a move of the slider to the three charts of σ², with 2000 nodes and D = 200; from
another η, E or D to the error curve.

Run ``python benchmarks/bench_studio.py``.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker import NodeRegressor, load
from gradraker.models import NodeModel
from report import SEED, Agreement, Finding, Report, finish, options, run_alone

_COMMAND = [sys.executable, "-c", "from gradraker.cli import main; main()", "studio"]
_BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
# Times every frame while the pointer drags or the wheel turns, at the full frame rate.
_FRAMES = """kind => new Promise(resolve => {
  const canvas = document.getElementById("overlay"), box = canvas.getBoundingClientRect();
  const send = (name, x, y) => canvas.dispatchEvent(new PointerEvent(name,
    { pointerId: 1, clientX: box.left + x, clientY: box.top + y, bubbles: true, buttons: 1 }));
  canvas.setPointerCapture = () => {};
  const times = []; let i = 0, last = performance.now();
  if (kind === "pan") send("pointerdown", 300, 300);
  const frame = () => {
    const now = performance.now(); times.push(now - last); last = now;
    if (kind === "pan") send("pointermove", 300 + 100 * Math.sin(i / 10), 300 + 100 * Math.cos(i / 7));
    else canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 40 < 20 ? -20 : 20,
      clientX: box.left + 300 + i, clientY: box.top + 300, cancelable: true }));
    if (i++ < 90) return requestAnimationFrame(frame);
    if (kind === "pan") send("pointercancel", 0, 0);
    resolve(times.slice(1));
  };
  requestAnimationFrame(frame);
})"""  # noqa: E501
_WATCH = """() => {
  window.first = []; window.whole = []; let started = 0, seen = false;
  document.getElementById("overlay").addEventListener("pointerup",
    () => { started = performance.now(); seen = false; }, true);
  new MutationObserver(() => {
    if (!started) return;
    const ms = performance.now() - started;
    if (!seen && document.getElementById("prediction")) { seen = true; window.first.push(ms); }
    if (document.getElementById("sum")) { window.whole.push(ms); started = 0; }
  }).observe(document.getElementById("panel"), { childList: true, subtree: true });
}"""
_CURVE = """([id, value]) => new Promise(resolve => {
  const view = document.getElementById("view-sigma2"), field = document.getElementById(id);
  const start = performance.now();
  new MutationObserver((_, observer) => {
    observer.disconnect();
    resolve(performance.now() - start);
  }).observe(view, { attributes: true, attributeFilter: ["data-curve-ms"] });
  field.value = value;
  field.dispatchEvent(new Event("change"));
})"""
_PLACES = """async () => {
  const { graph, getPicture } = await import("./studio/graph_view.js"), { view } = getPicture();
  const box = document.getElementById("overlay").getBoundingClientRect(), { x, y, n } = graph.scene;
  return Array.from({ length: n }, (_, i) => [(x[i] - view.cx) * view.scale + view.width / 2,
    (y[i] - view.cy) * view.scale + view.height / 2])
    .filter(([px, py]) => px > 250 && px < view.width - 80 && py > 20 && py < view.height - 150)
    .map(([px, py]) => [box.left + px, box.top + py]);
}"""

# Fields of the page about σ², and the values set in turn, up to the paper's D = 200.
_SETTINGS: dict[str, Sequence[float]] = {
    "eta": [0.11 + 0.01 * i for i in range(10)],
    "e": [4, 2, 5, 1, 3],
    "d": [100, 50, 25, 200],
}


def make_model(n: int, n_edges: int, n_known: int, file: Path) -> NodeModel:
    """Fit and save a graph whose nodes have most edges within their community."""
    rng = np.random.default_rng(SEED)
    community = rng.integers(0, 30, n)
    members = [np.flatnonzero(community == k) for k in range(30)]
    source = rng.integers(0, n, n_edges)
    near = [int(rng.choice(members[k])) for k in community[source].tolist()]
    target = np.where(rng.random(n_edges) < 0.85, near, rng.integers(0, n, n_edges))
    known: NDArray[Any] = rng.permutation(n)[:n_known]
    values = {int(i): float(community[i] + 0.3 * rng.normal()) for i in known}
    edges = np.stack([source, target], axis=1)
    fitted: NodeModel = load(
        NodeRegressor().fit(edges, values, nodes=range(n), directed=False).save(file)
    )
    return fitted


def measure(page: Any, n_clicks: int) -> dict[str, list[float]]:
    """Use the page as a reader would, and return milliseconds."""
    found = {kind: page.evaluate(_FRAMES, kind) for kind in ("zoom", "pan")}
    page.keyboard.press("0")
    page.click("#zoom-fit")
    page.wait_for_timeout(1000)
    places = page.evaluate(_PLACES)
    page.evaluate(_WATCH)
    rng = np.random.default_rng(SEED)
    for i in rng.permutation(len(places))[: n_clicks + 2].tolist():
        page.mouse.move(*places[i], steps=3)
        page.wait_for_timeout(150)  # a user pauses before a click
        page.mouse.click(*places[i])
        page.wait_for_timeout(1000)
    # The first clicks load shared data.
    found |= {"prediction": page.evaluate("first")[2:], "weights": page.evaluate("whole")[2:]}
    page.click("#tab-sigma2")
    page.wait_for_selector("#rules button", timeout=120_000)
    page.focus("#sigma2")
    found["sigma2"] = []
    for _ in range(max(5, n_clicks)):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(250)
        found["sigma2"].append(float(page.get_attribute("#view-sigma2", "data-ms")))
    for setting, values in _SETTINGS.items():
        found[setting] = []
        for i in range(max(5, n_clicks // 2)):
            change = [setting, str(values[i % len(values)])]
            found[setting].append(page.evaluate(_CURVE, change))
            page.wait_for_timeout(700)
    return found


def find_difference(page: Any, model: NodeModel) -> float:
    """Return the largest difference between predictions on the page and the model's."""
    shown = page.evaluate(
        """async () => { const { graph } = await import("./studio/graph_view.js");
        return Array.from(graph.scene.columns.prediction); }"""
    )
    return float(np.abs(np.array(shown) - model.predict(model.nodes_)).max())


def main(argv: Sequence[str] | None = None) -> Report:
    from playwright.sync_api import sync_playwright

    arguments = options(argv, __doc__)
    sizes = (300, 900, 100) if arguments.tiny else (10_000, 100_000, 2000)
    browser = next(filter(os.path.exists, _BROWSERS))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.gr"
        model = make_model(*sizes, file)
        words = ["--model", str(file), "--no-browser"]
        process = subprocess.Popen([*_COMMAND, *words], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            address = re.search(r"http\S+", process.stdout.readline())
            assert address is not None
            with sync_playwright() as driver:
                flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
                opened = driver.chromium.launch(executable_path=browser, args=flags)
                page = opened.new_page(viewport={"width": 1400, "height": 900})
                _open(page, address[0])
                difference = find_difference(page, model)
                found = measure(page, 3 if arguments.tiny else 20)
                opened.close()
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()
    medians = {name: float(np.median(times)) for name, times in found.items()}
    return finish(
        Report(
            f"Studio: {sizes[0]} nodes, {sizes[1]} edges, {sizes[2]} known, in Chromium",
            findings=(
                Finding("frames while zooming", 1e3 / medians["zoom"], 30.0, " per second"),
                Finding("frames while panning", 1e3 / medians["pan"], 30.0, " per second"),
                Finding("click to prediction", medians["prediction"] + 0.1, 200.0, " ms", True),
                Finding("click to all weights", medians["weights"], 200.0, " ms", True),
                Finding("slowest of these", max(found["weights"]), 200.0, " ms", True),
                Finding("slider to charts of σ²", medians["sigma2"], 100.0, " ms", True),
                Finding("η to error curve", medians["eta"], 100.0, " ms", True),
                Finding("D to error curve", medians["d"], 100.0, " ms", True),
                Finding("E to error curve", medians["e"], 100.0, " ms", True),
            ),
            agreements=(Agreement("predictions of page and model", difference, 1e-8),),
            judged=not arguments.tiny,
        )
    )


def _open(page: Any, address: str) -> None:
    """Open the page; the service may still be learning its first state."""
    for _ in range(60):
        page.goto(address)
        page.reload()
        try:
            page.wait_for_selector("html[data-ready]", timeout=5000)
        except Exception:
            continue
        page.wait_for_timeout(1500)
        return
    raise RuntimeError("the studio does not start")


if __name__ == "__main__":
    run_alone(main)
