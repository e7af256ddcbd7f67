"""The graph and its nodes in a real browser, by mouse and by keyboard."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeRegressor, load_temperature
from gradraker.studio import make_demo
from studio_service import StudioService

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def model() -> Any:
    return make_demo()[0]


def format_number(value: Any, digits: int = 4) -> str:
    """Write a number as the page does."""
    return f"{float(f'{value:.{digits}g}'):g}".replace("-", "−")


def find_on_canvas(page: Any, name: str) -> Any:
    """Return where a node is drawn."""
    return page.evaluate(
        """async name => {
        const { graph, getPicture } = await import("./studio/graph_view.js");
        const { view } = getPicture();
        const i = graph.positions.get(name);
        const box = document.getElementById("overlay").getBoundingClientRect();
        return [box.left + (graph.scene.x[i] - view.cx) * view.scale + view.width / 2,
                box.top + (graph.scene.y[i] - view.cy) * view.scale + view.height / 2];
    }""",
        name,
    )


def wait_for_panel(page: Any, name: str) -> Any:
    page.wait_for_selector("#sum")
    assert page.inner_text("#panel-title") == name


def test_click_explains_a_node(demo: Any, look: Any, model: Any) -> None:
    page = look(demo)
    page.mouse.click(*find_on_canvas(page, "Davos"))
    wait_for_panel(page, "Davos")
    (prediction,), intervals = model.predict(["Davos"], return_interval=True, coverage=0.9)
    assert page.inner_text("#prediction") == f"{format_number(prediction)} °C"
    assert format_number(intervals[0][0], 3) in page.inner_text("#panel")
    assert format_number(intervals[0][1], 3) in page.inner_text("#panel")
    total = float(page.get_attribute("#sum", "data-sum"))
    assert total == pytest.approx(float(prediction), abs=1e-9)
    assert "node=Davos" in page.evaluate(
        "new Promise(r => setTimeout(() => r(location.hash), 300))"
    )
    assert "token" not in page.url


def test_listed_weights_are_the_models(demo: Any, look: Any, model: Any) -> None:
    page = look(demo, "node=Davos")
    wait_for_panel(page, "Davos")
    page.click("text=Show all 36")
    rows = page.eval_on_selector_all(
        "#panel tbody tr:not(.rest):not(.sum)",
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))",
    )
    explanation = model.explain(["Davos"])
    weights = dict(zip(explanation.known_names, explanation.weights[0].tolist(), strict=True))
    assert {row[0] for row in rows} == set(weights)
    for name, _, weight, _ in rows:
        assert float(weight.replace("−", "-")) == pytest.approx(weights[name], rel=6e-3, abs=1e-5)
    parts = explanation.get_parts(0)
    text = page.text_content("#panel svg.bars")
    for name in parts:
        assert name[:21] in text


def test_keyboard_goes_from_node_to_node_and_opens_one(demo: Any, look: Any) -> None:
    page = look(demo)
    page.focus("#overlay")
    page.keyboard.press("ArrowRight")
    first = page.inner_text("#spoken")
    page.keyboard.press("ArrowUp")
    second = page.inner_text("#spoken")
    assert "prediction" in first
    assert first != second
    page.keyboard.press("Enter")
    page.wait_for_selector("#sum")
    assert second.startswith(page.inner_text("#panel-title"))
    page.focus("#overlay")
    page.keyboard.press("Escape")
    page.wait_for_selector("text=Choose one on the graph")


def test_keys_move_and_zoom(demo: Any, look: Any) -> None:
    page = look(demo)
    page.focus("#overlay")
    read = """async () => { const { getPicture } = await import("./studio/graph_view.js");
        const { view } = getPicture(); return [view.cx, view.cy, view.zoom]; }"""
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowRight")
    x, _, zoom = page.evaluate(read)
    assert zoom > 1.3
    assert x > 0.5
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert page.evaluate(read) == [0.5, 0.5, 1]
    page.click("#zoom-in")
    page.mouse.move(500, 500)
    page.mouse.wheel(0, -300)
    assert page.evaluate(read)[2] > 2.0
    page.mouse.down()
    page.mouse.move(560, 540, steps=4)
    page.mouse.up()
    assert page.evaluate(read)[0] != 0.5
    page.click("#zoom-fit")
    assert page.evaluate(read) == [0.5, 0.5, 1]


def test_search_completes_names(demo: Any, look: Any) -> None:
    page = look(demo)
    page.fill("#search", "dav")
    page.wait_for_selector("#matches li")
    page.keyboard.press("Enter")
    wait_for_panel(page, "Davos")
    page.fill("#search", "zür")
    page.wait_for_selector("#matches li:has-text('Zürich')")
    assert page.get_attribute("#search", "aria-expanded") == "true"
    page.click("#matches li:first-child")
    page.wait_for_function(
        "() => document.getElementById('panel-title').textContent.startsWith('Zürich')"
    )
    page.fill("#search", "no such node")
    page.wait_for_selector("text=No node has this name")


@pytest.mark.parametrize("kind", ["value", "prediction", "error", "uncertainty"])
def test_colours_follow_the_models_numbers(demo: Any, look: Any, model: Any, kind: str) -> None:
    page = look(demo)
    page.select_option("#colour", kind)
    found = page.evaluate(
        """async kind => {
        const { findColumn, graph } = await import("./studio/graph_view.js");
        const column = await findColumn(kind);
        return [graph.scene.names, Array.from(column, x => Number.isFinite(x) ? x : null)];
    }""",
        kind,
    )
    names, column = found
    if kind == "value":
        expected = model.values_
    elif kind == "prediction":
        expected = model.predict(model.nodes_)
    elif kind == "uncertainty":
        ends = model.predict(model.nodes_, return_interval=True, coverage=0.9)[1]
        expected = ends[:, 1] - ends[:, 0]
    else:
        left_out = model.predict_left_out()
        expected = np.full(len(names), np.nan)
        expected[left_out.rows] = left_out.predictions - left_out.values
    assert names == model.nodes_.tolist()
    shown = np.array([np.nan if one is None else one for one in column])
    np.testing.assert_allclose(shown, expected, atol=1e-9)
    legend = page.get_attribute("#legend", "aria-label")
    assert "(°C)" in legend
    known = expected[np.isfinite(expected)]
    low = -np.abs(known).max() if kind == "error" else known.min()
    assert format_number(low) in legend


def test_what_if_a_known_value_were_different(demo: Any, look: Any, model: Any) -> None:
    page = look(demo, "node=Davos")
    wait_for_panel(page, "Davos")
    explanation = model.explain(["Davos"])
    heaviest = int(explanation.find_heaviest(1)[0, 0])
    page.fill("#what-if-number", "12.5")
    moved = explanation.weights[0, heaviest] * (12.5 - explanation.values[heaviest])
    expected = float(explanation.prediction[0] + moved)
    assert float(page.get_attribute("#what-if", "data-value")) == pytest.approx(expected, abs=1e-9)
    page.focus("#what-if-value")
    page.keyboard.press("ArrowLeft")
    assert float(page.get_attribute("#what-if", "data-value")) != pytest.approx(expected)
    page.click("#panel >> text=Reset")
    shown = float(page.get_attribute("#what-if", "data-value"))
    assert shown == pytest.approx(float(explanation.prediction[0]), abs=1e-9)


def test_what_if_a_node_had_another_link(demo: Any, look: Any, model: Any) -> None:
    page = look(demo, "node=Davos")
    wait_for_panel(page, "Davos")
    page.fill("#link-to", "Lugano")
    page.wait_for_selector("#link-to-list li")
    page.keyboard.press("Enter")
    page.click("text=Imagine it")
    page.wait_for_function("() => document.getElementById('imagined').dataset.value")
    changed, _ = make_demo()
    changed.partial_fit([("Davos", "Lugano"), ("Lugano", "Davos")])
    (expected,) = changed.predict(["Davos"])
    shown = float(page.get_attribute("#imagined", "data-value"))
    assert shown == pytest.approx(float(expected), abs=1e-8)
    (before,) = model.predict(["Davos"])
    assert shown != pytest.approx(float(before), abs=1e-8)


def test_known_node_without_its_own_value(demo: Any, look: Any, model: Any) -> None:
    name = model.known_nodes_[0]
    page = look(demo, f"node={name}")
    wait_for_panel(page, name)
    page.check("#leave-out")
    page.wait_for_selector("text=Prediction without its own value")
    left_out = model.predict_left_out()
    at = left_out.rows.tolist().index(model.nodes_.tolist().index(name))
    assert page.inner_text("#prediction") == f"{format_number(left_out.predictions[at])} °C"


def test_table_sorts_pages_and_opens_nodes(demo: Any, look: Any, model: Any) -> None:
    page = look(demo, "view=table")
    page.wait_for_selector("#rows tr")
    page.click("th button:has-text('Prediction')")
    predictions = model.predict(model.nodes_)
    lowest = model.nodes_[int(predictions.argmin())]
    page.wait_for_function(f"() => document.querySelector('#rows th').textContent === {lowest!r}")
    assert page.get_attribute("th:has-text('Prediction ↑')", "aria-sort") == "ascending"
    page.focus("text=Next")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=26 to 50 of 89")
    page.click("text=Previous")
    page.click("#rows tr:first-child button")
    wait_for_panel(page, lowest)


@pytest.mark.parametrize("width", [390, 768, 1300, 1900])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_every_width(demo: Any, look: Any, width: int, scheme: str) -> None:
    page = look(demo, "node=Davos", viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.wait_for_selector("#sum")
    for view in ("graph", "sigma2", "stream", "table"):
        page.click(f"#tab-{view}")
        page.wait_for_selector(f"#view-{view}:not([hidden])")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.click("#theme")
    other = "dark" if scheme == "light" else "light"
    assert page.evaluate("document.documentElement.dataset.theme") == other


def test_fields_and_tabs_have_names_for_screen_readers(demo: Any, look: Any) -> None:
    page = look(demo, "node=Davos")
    page.wait_for_selector("#sum")
    for view in ("graph", "sigma2", "stream", "table"):
        page.click(f"#tab-{view}")
        page.wait_for_timeout(300)
        unnamed = page.eval_on_selector_all(
            "input, select, button, canvas[tabindex], svg[role]",
            """all => all.filter(e => e.checkVisibility() && !(e.labels?.length
                || e.getAttribute("aria-label") || e.textContent.trim())).map(e => e.outerHTML)""",
        )
        assert unnamed == []
    page.focus("#tab-table")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-graph", "aria-selected") == "true"
    assert page.evaluate("document.activeElement.id") == "tab-graph"


def test_values_in_another_scale_are_shown_in_units(look: Any, tmp_path: Any) -> None:
    data = load_temperature()
    sizes = {
        n: float(np.exp(v / 4.0)) for n, v in zip(data.node_names[:50], data.values, strict=False)
    }
    model = NodeRegressor(transform="log").fit(data, sizes)
    with StudioService("--model", model.save(tmp_path / "model.gr")) as service:
        page = look(service, "node=Zermatt")
        wait_for_panel(page, "Zermatt")
        (prediction,) = model.predict(["Zermatt"])
        assert page.inner_text("#prediction") == format_number(prediction)
        explanation = model.explain(["Zermatt"])
        total = float(page.get_attribute("#sum", "data-sum"))
        assert total == pytest.approx(float(explanation.prediction[0]), abs=1e-9)
        assert "Weights add up in the scale log(1 + value" in page.inner_text("#panel")
        heaviest = explanation.known_names[int(explanation.find_heaviest(1)[0, 0])]
        page.fill("#what-if-number", "5")
        page.wait_for_selector("#what-if:has-text('+')")
        changed = model.partial_fit(values={heaviest: 5.0})
        expected = float(changed.predict(["Zermatt"])[0])
        shown = float(page.get_attribute("#what-if", "data-value"))
        assert shown == pytest.approx(expected, abs=1e-8)
        page.goto("about:blank")  # before the service stops
