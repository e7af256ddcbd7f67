"""Edits, streams and shared views in a real browser."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import NodeRegressor
from gradraker.io.readers import read_edges, read_values
from gradraker.studio import make_demo
from studio_service import StudioService, Watched

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


def test_replay_steps_pauses_and_counts_errors(demo: Any, look: Any) -> None:
    page = look(demo, "view=stream")
    page.wait_for_selector("text=33 to come", timeout=60_000)
    page.click("#step")
    page.focus("#step")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=2 arrived, 31 to come")
    answer = demo.ask("studio/api/replay?seed=0").json()
    first = answer["arrivals"][:2]
    rows = page.eval_on_selector_all(
        "#arrivals tr", "rows => rows.map(row => row.children[0].textContent)"
    )
    assert rows == [first[1][0], first[0][0]]
    expected = np.sqrt(np.mean([(p - v) ** 2 for _, v, p, _ in first]))
    assert float(page.get_attribute("#stream-score", "data-model")) == pytest.approx(expected)
    by_mean = np.sqrt(np.mean([(m - v) ** 2 for _, v, _, m in first]))
    assert float(page.get_attribute("#stream-score", "data-mean")) == pytest.approx(by_mean)
    page.select_option("#speed", label="fast")
    page.click("#play")
    page.wait_for_selector("text=33 arrived", timeout=30_000)
    assert page.inner_text("#play") == "Play"
    worst = max(answer["arrivals"], key=lambda one: abs(one[2] - one[1]))[0]
    assert page.inner_text("#surprises tr:first-child th") == worst
    page.click("#restart")
    page.wait_for_selector("text=0 arrived, 33 to come")


def test_replay_predicts_before_it_learns(demo: Any) -> None:
    model, _ = make_demo()
    answer = demo.ask("studio/api/replay?seed=0").json()
    order = np.random.default_rng(0).permutation(np.flatnonzero(np.isfinite(model.values_)))
    first = {model.nodes_[i]: model.values_[i] for i in order[: answer["n_first"]].tolist()}
    learner = NodeRegressor().fit(model.adjacency_, first, names=model.nodes_, directed=False)
    for name, value, predicted, mean in answer["arrivals"][:5]:
        assert predicted == pytest.approx(float(learner.predict([name])[0]), abs=1e-9)
        assert mean == pytest.approx(float(learner.known_values_.mean()))
        learner.partial_fit(values={name: value})


@pytest.fixture
def changed_demo() -> Any:
    """A demo of its own, for a test that leaves it changed."""
    with StudioService("--demo") as service:
        yield service


def test_values_arrive_step_by_step(changed_demo: Any, look: Any) -> None:
    page = look(changed_demo, "view=stream&source=live")
    page.wait_for_selector("text=0 arrived")
    page.click("#step")
    page.wait_for_selector("#arrivals tr", timeout=30_000)
    page.wait_for_selector("text=1 arrived")


# -- keep and share ----------------------------------------------------------------


def save(page: Any, button: str, folder: Path) -> Any:
    page.click("#share summary")
    with page.expect_download() as waiting:
        page.click(button)
    target: Path = folder / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target


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


def test_snapshot_opens_without_a_server(
    demo: Any, look: Any, chromium: Any, tmp_path: Path
) -> None:
    page = look(demo, "node=Davos&colour=error&s2=20&e=4")
    page.wait_for_selector("#sum")
    sum_here = float(page.get_attribute("#sum", "data-sum"))
    file = save(page, "#share-file", tmp_path)
    watched = Watched(chromium.new_context(offline=True), "file:")
    alone = watched.open(file.as_uri())
    alone.wait_for_selector("#sum")
    assert float(alone.get_attribute("#sum", "data-sum")) == pytest.approx(sum_here)
    assert alone.input_value("#colour") == "error"
    alone.fill("#search", "Arosa")
    alone.keyboard.press("Enter")
    alone.wait_for_selector("#panel-title:has-text('Arosa')")
    alone.wait_for_selector("#sum")
    alone.click("#tab-sigma2")
    alone.wait_for_selector("#rules button")
    before = alone.get_attribute("#gnmse", "data-value")
    assert "20" in alone.input_value("#sigma2-number")
    alone.focus("#sigma2")
    for _ in range(20):
        alone.keyboard.press("ArrowLeft")
    alone.wait_for_timeout(200)
    assert alone.get_attribute("#gnmse", "data-value") != before
    alone.click("#tab-stream")
    alone.click("#step")
    alone.wait_for_selector("#arrivals tr")
    alone.click("#tab-table")
    alone.wait_for_selector("#rows tr")
    watched.close()


def test_answers_of_the_api_are_json_that_names_its_state(demo: Any) -> None:
    for path in ("graph", "known", "node?node=Davos", "columns?which=left_out"):
        answer = demo.ask(f"studio/api/{path}")
        assert answer.status_code == 200
        assert "state" in json.loads(answer.text)
