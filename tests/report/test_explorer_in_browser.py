"""The interactive page in a real browser: search, sort, filter, panels, and hostile names."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from browser import MISSING, browser
from gradraker.report import (
    build_explorer,
    render_predictions,
    render_targets,
    summarize_predictions,
)
from gradraker.workflow import predict_all_targets
from hostile_names import HOSTILE_NAMES

pytestmark = pytest.mark.skipif(browser() is None, reason=MISSING)

# Uses the page like a reader, and stores the results in the page.
PROBE = """
window.addEventListener("load", () => {
  const byId = id => document.getElementById(id), seen = {};
  const rows = () => [...document.querySelectorAll("#rows tr")].map(
    row => [...row.children].map(cell => cell.textContent));
  const type = (id, text) => { byId(id).value = text; byId(id).dispatchEvent(new Event("input")); };
  const times = () => Number(byId("explorer").dataset.ms);
  const heads = [...byId("heads").querySelectorAll("button")];
  const head = title => heads.find(button => button.textContent === title);
  seen.hidden = byId("explorer").hidden;
  seen.first = rows();
  seen.ms = [times()];
  type("query", QUERY); seen.found = rows(); seen.ms.push(times());
  seen.count = byId("count").textContent;
  type("query", "no such node"); seen.none = rows(); type("query", ""); seen.ms.push(times());
  head(PREDICTION).click(); seen.ascending = rows(); seen.ms.push(times());
  seen.sort = head(PREDICTION).parentElement.getAttribute("aria-sort");
  head(PREDICTION).click(); seen.descending = rows(); seen.ms.push(times());
  head("Node").click();
  type("which", "known"); seen.known = rows(); seen.ms.push(times());
  type("which", "explained"); seen.explained = byId("count").textContent;
  type("which", "all");
  byId("next").click(); seen.second = rows(); seen.ms.push(times());
  byId("previous").click();
  type("query", QUERY);
  document.querySelector("#rows button").click();
  seen.panel = byId("panel").textContent;
  seen.panel_ms = Number(byId("panel").dataset.ms);
  seen.focused = document.activeElement.id;
  const picture = document.querySelector("#panel .neighbourhood");
  seen.drawn = picture.querySelectorAll("circle, rect").length;
  seen.marked = picture.querySelectorAll('[stroke="#b3261e"]').length;
  byId("panel").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
  seen.closed = byId("panel").hidden;
  const fields = [...document.querySelectorAll("input, select")];
  seen.unlabelled = fields.filter(field => !field.labels.length).length;
  seen.requests = performance.getEntriesByType("resource").length;
  seen.title = document.title;
  seen.overflow = document.documentElement.scrollWidth - innerWidth;
  seen.alien = document.querySelectorAll("iframe, form, base, link, template, math, img").length;
  seen.scripts = document.querySelectorAll("script").length;
  const bytes = new TextEncoder().encode(JSON.stringify(seen));
  const letters = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  document.body.setAttribute("data-probe", btoa(letters));
});
"""


def look(
    tab: Any,
    page: Any,
    folder: Any,
    *,
    query: Any,
    prediction: Any = "Prediction",
    size: Any = "1200,900",
) -> Any:
    """Results of using the page, and messages of the console."""
    text = json.dumps(query).replace("<", "\\u003c")
    script = PROBE.replace("QUERY", text).replace("PREDICTION", f'"{prediction}"')
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert page.count("script-src 'sha256-") == 1
    allowed = page.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    dom, console = tab.load(
        allowed.replace("</body>", f"<script>{script}</script></body>", 1), folder, size=size
    )
    assert console == []
    found = dom.split('data-probe="', 1)[1].split('"', 1)[0]
    return json.loads(base64.b64decode(found))


def make_ring(names: Any, n_known: Any) -> Any:
    """A ring whose nodes have links to the next three."""
    n = len(names)
    edges = [(names[i], names[(i + k) % n]) for i in range(n) for k in (1, 2, 3)]
    known = {names[i]: float(np.sin(7.0 * i / n)) for i in range(n_known)}
    return edges, known


def render(result: Any, **options: Any) -> Any:
    summary = summarize_predictions(result)
    return render_predictions(summary, explorer=build_explorer(result), **options)


@pytest.fixture(scope="module")
def result() -> Any:
    edges, known = make_ring([f"node {i:03d}" for i in range(120)], 70)
    return gradraker.predict_nodes(edges, known, coverage=0.9, lower=-0.9, upper=0.9)


@pytest.fixture(scope="module")
def page(result: Any) -> Any:
    return render(result, title="A ring", unit="m")


@pytest.mark.parametrize("size", [pytest.param("1200,900", marks=pytest.mark.slow), "500,900"])
def test_search_sort_filter_and_panel(
    tab: Any, page: Any, result: Any, tmp_path: Path, size: Any
) -> None:
    seen = look(tab, page, tmp_path, query="NODE 099", size=size)
    assert not seen["hidden"]
    assert [row[0] for row in seen["first"]] == [f"node {i:03d}" for i in range(15)]
    assert [row[0] for row in seen["second"]] == [f"node {i:03d}" for i in range(15, 30)]
    assert [row[0] for row in seen["found"]] == ["node 099"]
    assert seen["count"].startswith("1 of 120 nodes")
    assert seen["none"] == []
    order = np.argsort(result.predictions.astype(np.float32), kind="stable")
    shown = [seen["ascending"][i][0] for i in range(15)]
    assert shown == result.nodes[order[:15]].tolist()
    assert seen["sort"] == "ascending"
    expected = float(f"{result.predictions.max():.4g}")
    assert float(seen["descending"][0][2].replace("−", "-")) == pytest.approx(expected)
    assert [row[0] for row in seen["known"]] == [f"node {i:03d}" for i in range(15)]
    assert "90 % interval" in seen["panel"]
    assert "Known nodes that count most" in seen["panel"]
    assert f"{result.predictions[99]:.4g} m".replace("-", "−") in seen["panel"]
    assert seen["focused"] == "panel-title"
    assert seen["drawn"] > 6
    assert seen["marked"] == 8
    assert seen["closed"]
    assert seen["unlabelled"] == 0
    assert seen["requests"] == 0
    assert seen["title"] == "A ring"
    assert seen["overflow"] <= 0


def test_hostile_names_do_not_run_scripts(tab: Any, tmp_path: Path) -> None:
    assert len(HOSTILE_NAMES) >= 36
    edges, known = make_ring(HOSTILE_NAMES, 40)
    result = gradraker.predict_nodes(edges, known, coverage=0.9)
    evil = HOSTILE_NAMES[0]
    summary = summarize_predictions(
        result, n_contributors=3, inputs={"edges": evil, "values": HOSTILE_NAMES[1]}
    )
    explorer = build_explorer(result, model_file="'; rm -rf ~; '")
    page = render_predictions(summary, explorer=explorer, title=evil, unit=HOSTILE_NAMES[9])
    seen = look(tab, page, tmp_path, query=evil)
    assert [row[0] for row in seen["found"]] == sorted(
        name for name in HOSTILE_NAMES if evil in name
    )
    assert seen["alien"] == 0
    assert seen["scripts"] == 3  # data, ours, and the probe
    assert seen["requests"] == 0
    assert seen["title"] == evil
    # Nothing hidden reaches the page.
    assert not set("\u202e\u2066\u200b\x00\x07\x1b\u2028\u2029") & set(page)


def test_hostile_class_names_do_not_run_scripts(tab: Any, tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(80)]
    edges, _ = make_ring(names, 0)
    labels = HOSTILE_NAMES[:6]
    known = {names[i]: labels[i % 6] for i in range(48)}
    page = render(gradraker.predict_nodes(edges, known))
    seen = look(tab, page, tmp_path, query="n70", prediction="Class")
    assert seen["alien"] == 0
    assert seen["requests"] == 0
    assert seen["found"][0][2] in labels


@pytest.mark.parametrize("n", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_every_action_is_quick_and_the_page_is_small(tab: Any, n: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, n, size=(3 * n, 2))
    known = dict(zip(range(0, n, 500), rng.normal(size=n // 500).tolist(), strict=True))
    model = gradraker.NodeRegressor(blocks=["degree"], width=1.0, alpha=1.0)
    result = gradraker.predict_nodes(edges, known, model=model, nodes=range(n), coverage=0.9)
    page = render(result)
    assert len(page.encode()) < 10_000_000
    # Thrice if need be, since other programs run on the machine as well.
    ms = np.array(np.inf)
    for _ in range(3):
        seen = look(tab, page, tmp_path, query="77")
        assert seen["explained"].startswith("6")  # hundreds of nodes with a panel
        ms = np.minimum(ms, [*seen["ms"], seen["panel_ms"]])
        if np.max(ms) <= 100.0:
            break
    assert np.max(ms) <= 100.0


def test_panel_shows_kinds_of_similarity_if_the_model_has_them(result: Any) -> None:
    panel = build_explorer(result)["panels"][0]
    explanation = result.explain([result.model.nodes_[panel["i"]]])
    assert [name for name, _ in panel["parts"]] == list(explanation.part_names)
    parts = [part for _, part in panel["parts"]]
    np.testing.assert_allclose(parts, explanation.parts[0], rtol=1e-3)


def test_without_scripts_the_page_shows_the_tables(tab: Any, page: Any, tmp_path: Path) -> None:
    stopped = page.replace("script-src 'sha256-", "script-src 'sha256-A", 1)
    dom, console = tab.load(stopped, tmp_path)
    assert any("Content Security Policy" in line for line in console)
    assert '<section id="explorer" hidden' in dom
    assert "The highest" in dom
    assert "The least certain" in dom


CHOOSER = """
window.addEventListener("load", () => {
  const parts = [...document.querySelectorAll(".target")];
  const shown = () => parts.filter(e => !e.hidden).map(e => e.id);
  const seen = {first: shown()}, chooser = document.getElementById("target");
  chooser.value = "t2-"; chooser.dispatchEvent(new Event("input"));
  seen.second = shown(); seen.hash = location.hash;
  document.getElementById("t2-query").value = "node 099";
  document.getElementById("t2-query").dispatchEvent(new Event("input"));
  document.querySelector("#t2-rows button").click();
  seen.panel = document.getElementById("t2-panel").textContent;
  seen.names = [...document.querySelectorAll("#target option")].map(e => e.textContent);
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  seen.twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  location.hash = "#t1-node-3";
  dispatchEvent(new HashChangeEvent("hashchange"));  // the browser's own comes after the load
  seen.followed = shown();
  seen.opened = document.getElementById("t1-panel-title").textContent;
  const bytes = new TextEncoder().encode(JSON.stringify(seen));
  const letters = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  document.body.setAttribute("data-probe", btoa(letters));
});
"""


def test_a_page_of_several_targets_shows_the_one_that_is_chosen(tab: Any, tmp_path: Path) -> None:
    edges, known = make_ring([f"node {i:03d}" for i in range(120)], 70)
    evil = HOSTILE_NAMES[0]
    both = {name: {"height": v, evil: 9.0 - v} for name, v in known.items()}
    found = predict_all_targets(gradraker.NodeRegressor().fit(edges, both), coverage=0.9)
    page = render_targets(
        {str(name): summarize_predictions(one) for name, one in found.items()},
        explorers={str(name): build_explorer(one, n_targets=2) for name, one in found.items()},
        units={"height": "m"},
    )
    digest = base64.b64encode(hashlib.sha256(CHOOSER.encode()).digest()).decode()
    assert page.count("script-src 'sha256-") == 1
    allowed = page.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    dom, console = tab.load(
        allowed.replace("</body>", f"<script>{CHOOSER}</script></body>", 1), tmp_path
    )
    assert console == []
    text = dom.split('data-probe="', 1)[1].split('"', 1)[0]
    seen = json.loads(base64.b64decode(text))
    assert (seen["first"], seen["second"]) == (["t1-target"], ["t2-target"])
    assert seen["hash"] == "#t2-target"
    assert seen["names"] == ["height", evil]
    assert f"{found[evil].predictions[99]:.4g}" in seen["panel"]
    assert seen["twice"] == []
    assert seen["followed"] == ["t1-target"]
    assert seen["opened"] == "node 003"
