"""Edits, streams and shared views in a real browser."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import NodeRegressor
from gradraker.io.readers import read_edges, read_values
from gradraker.studio import make_demo
from studio_service import save

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.slow]

PREDICTIONS = """async () => {
  const { graph } = await import("./studio/graph_view.js");
  const { names, columns } = graph.scene;
  return Object.fromEntries(names.map((name, i) => [name, columns.prediction[i]]));
}"""


def fit(files: Any) -> Any:
    edges, values = files
    return NodeRegressor().fit(read_edges(edges), read_values(values), directed=False)


def wait_for_moves(page: Any, text: str) -> None:
    page.wait_for_selector(f"#moves:has-text('{text}')", timeout=30_000)


def compare(page: Any, model: Any) -> None:
    """Predictions on the page are those of a model."""
    shown = page.evaluate(PREDICTIONS)
    names = model.nodes_.tolist()
    assert sorted(shown) == sorted(names)
    np.testing.assert_allclose(
        [shown[name] for name in names], model.predict(model.nodes_), atol=1e-6
    )


def test_a_value_is_set_undone_and_redone(ring: Any, files: Any, look: Any) -> None:
    page = look(ring, "node=node+30")
    page.wait_for_selector("#sum")
    compare(page, fit(files))
    page.fill("#new-value", "-7.5")
    page.click("#give")
    wait_for_moves(page, "node 30 = −7.5")
    changed = fit(files).partial_fit(values={"node 30": -7.5})
    compare(page, changed)
    assert "predictions moved" in page.inner_text("#moves")
    page.click("#undo")
    wait_for_moves(page, "Undone")
    compare(page, fit(files))
    page.click("#redo")
    wait_for_moves(page, "Redone")
    compare(page, changed)
    page.focus("#tab-graph")
    page.keyboard.press("Control+z")
    wait_for_moves(page, "Undone")
    compare(page, fit(files))


def test_a_value_is_removed_by_keyboard(ring: Any, files: Any, look: Any) -> None:
    page = look(ring, "node=node+05")
    page.wait_for_selector("#sum")
    page.focus("text=Remove the value")
    page.keyboard.press("Enter")
    wait_for_moves(page, "no value for node 05")
    compare(page, fit(files).forget(values=["node 05"]))
    page.focus("#undo")
    page.keyboard.press("Enter")
    wait_for_moves(page, "Undone")
    compare(page, fit(files))


def test_a_node_is_added_and_removed(ring: Any, files: Any, look: Any) -> None:
    page = look(ring)
    page.fill("#node-name", "a new one")
    for other in ("node 03", "node 04"):
        page.fill("#node-links", other)
        page.wait_for_selector("#node-links-list li")
        page.keyboard.press("Enter")
    page.click("#add")
    wait_for_moves(page, "a new one added")
    links = [("a new one", "node 03"), ("a new one", "node 04")]
    changed = fit(files).partial_fit(links, directed=False)
    compare(page, changed)
    page.wait_for_selector("#sum")
    assert page.inner_text("#panel-title") == "a new one"
    page.click("#undo")
    wait_for_moves(page, "Undone")
    compare(page, fit(files))


def test_a_removed_node_is_restored_by_undo(ring: Any, files: Any, look: Any) -> None:
    page = look(ring, "node=node+07")
    page.wait_for_selector("#sum")
    page.click("text=Remove the node")
    wait_for_moves(page, "node 07 removed")
    compare(page, fit(files).forget(nodes=["node 07"]))
    page.click("#undo")
    wait_for_moves(page, "Undone")
    shown, model = page.evaluate(PREDICTIONS), fit(files)
    expected = dict(zip(model.nodes_.tolist(), model.predict(model.nodes_), strict=True))
    assert shown == pytest.approx(expected, abs=1e-6)


def test_user_files_are_not_changed(ring: Any, files: Any) -> None:
    folder = files[0].parent
    assert sorted(file.name for file in folder.iterdir()) == ["edges.csv", "known.csv"]


# -- keep and share ----------------------------------------------------------------


def test_address_reproduces_the_view(demo: Any, look: Any) -> None:
    page = look(demo, "node=Davos&colour=uncertainty&x=0.4&y=0.6&zoom=2.5")
    page.wait_for_selector("#sum")
    other = look(demo, page.url.split("#")[1])
    other.wait_for_selector("#sum")
    assert other.inner_text("#panel-title") == "Davos"
    assert other.input_value("#colour") == "uncertainty"
    read = """async () => (await import("./studio/graph_view.js")).getPicture().view"""
    assert other.evaluate(read) == page.evaluate(read)
    assert other.evaluate(read)["zoom"] == 2.5


@pytest.mark.parametrize("view", ["graph", "sigma2", "stream"])
def test_pictures_as_svg_and_png(demo: Any, look: Any, tmp_path: Path, view: str) -> None:
    page = look(demo, f"view={view}&node=Davos")
    ready = {"graph": "#sum", "sigma2": "#rules button", "stream": "text=33 to come"}[view]
    page.wait_for_selector(ready, timeout=90_000, state="attached")
    if view == "stream":
        page.click("#step")
    page.wait_for_timeout(300)
    svg = save(page, "#share-svg", tmp_path).read_text("utf-8")
    assert svg.startswith("<svg")
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    png = save(page, "#share-png", tmp_path).read_bytes()
    assert png.startswith(b"\x89PNG")
    assert len(png) > 5_000


def test_table_as_csv(demo: Any, look: Any, tmp_path: Path) -> None:
    page = look(demo)
    file = save(page, "#share-csv", tmp_path)
    model, _ = make_demo()
    predictions = read_values(file, node="node", value="prediction")
    expected = dict(zip(model.nodes_.tolist(), model.predict(model.nodes_), strict=True))
    assert dict(predictions) == pytest.approx(expected, abs=1e-9)


def test_answers_of_the_api_are_json_that_names_its_state(demo: Any) -> None:
    for path in ("graph", "known", "node?node=Davos", "columns?which=left_out"):
        answer = demo.ask(f"studio/api/{path}")
        assert answer.status_code == 200
        assert "state" in json.loads(answer.text)
