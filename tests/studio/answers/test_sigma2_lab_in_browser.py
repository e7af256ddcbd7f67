"""The page about σ² in a real browser: its numbers are those of the library."""

from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor, gnmse, load_temperature
from gradraker.studio.answers.sigma2_lab import LabSettings, Sigma2Lab

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.slow]

READ = """async () => {
  const { lab } = await import("./studio/sigma2_view.js");
  return { sigma2: lab.sigma2, gnmse: lab.found.gnmse, node: lab.split.names[lab.node],
    predictions: Array.from(lab.found.predictions), B: Array.from(lab.weights.B),
    F: Array.from(lab.weights.F), curve: lab.curve, rules: lab.rules };
}"""


def open_lab(look: Any, demo: Any, view: str = "") -> Any:
    page = look(demo, f"view=sigma2&{view}")
    page.wait_for_selector("#rules button", timeout=90_000)
    return page


def fit(sigma2: float, d: int = 200, eta: float = 0.1, epochs: int = 3, split: int = 0) -> Any:
    lab = Sigma2Lab(load_temperature("jan"))
    draw = lab.draw(split)
    X = lab.dataset.adjacency[:, draw.known]
    y = lab.dataset.scale_values()
    model = SKGRegressor(
        sigma2=sigma2,
        n_frequencies=d,
        learning_rate=eta,
        n_epochs=epochs,
        random_state=draw.seed,
    ).fit(X[draw.known], y[draw.known])
    return model, X[draw.unknown], y[draw.unknown], draw


@pytest.mark.parametrize(
    ("view", "settings"),
    [
        ("s2=4.5", {"sigma2": 4.5}),
        ("s2=0.05&d=100&eta=0.25&e=7", {"sigma2": 0.05, "d": 100, "eta": 0.25, "epochs": 7}),
        ("s2=300&split=4&lab=Lugano", {"sigma2": 300.0, "split": 4}),
    ],
)
def test_numbers_are_the_librarys(demo: Any, look: Any, view: str, settings: Any) -> None:
    page = open_lab(look, demo, view)
    found = page.evaluate(READ)
    model, X, y, draw = fit(**settings)
    predictions = model.predict(X)
    np.testing.assert_allclose(found["predictions"], predictions, atol=1e-9)
    assert found["gnmse"] == pytest.approx(gnmse(y, predictions), abs=1e-9)
    names = load_temperature("jan").node_names
    row = [names[i] for i in draw.unknown.tolist()].index(found["node"])
    explanation = model.explain(X)
    np.testing.assert_allclose(found["F"], explanation.compute_row_by_time(row), atol=1e-9)
    B = explanation.similarities[row, explanation.order]
    np.testing.assert_allclose(found["B"], B, atol=1e-9)


def test_slider_follows_mouse_and_keys(demo: Any, look: Any) -> None:
    page = open_lab(look, demo)
    before = page.evaluate(READ)
    page.focus("#sigma2")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    after = page.evaluate(READ)
    assert after["sigma2"] > before["sigma2"]
    assert after["predictions"] != before["predictions"]
    assert "disturbing" in page.get_attribute("#sigma2", "aria-valuetext")
    assert page.inner_text("#range") == "disturbing"
    model, X, _, _ = fit(after["sigma2"])
    np.testing.assert_allclose(after["predictions"], model.predict(X), atol=1e-9)
    box = page.locator("#chart-curve").bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 60, steps=3)
    page.mouse.up()
    page.wait_for_timeout(200)
    assert page.inner_text("#range") == "chaos"
    assert float(page.get_attribute("#gnmse", "data-value")) > before["gnmse"]


def test_curve_and_rules_are_the_librarys(demo: Any, look: Any) -> None:
    page = open_lab(look, demo, "eta=0.05&e=2")
    found = page.evaluate(READ)
    settings = LabSettings(200, 0.05, 2, 0)
    lab = Sigma2Lab(load_temperature("jan"))
    assert found["curve"] == lab.compute_curve(settings) | lab.average_curves(settings)
    assert found["rules"] == lab.choose_by_rules(settings)["rules"]
    for sigma2, error in zip(
        found["curve"]["sigma2"][::8], found["curve"]["own"][::8], strict=True
    ):
        model, X, y, _ = fit(sigma2, eta=0.05, epochs=2)
        assert error == pytest.approx(gnmse(y, model.predict(X)), rel=1e-6)
    page.click("#rules button[data-rule=median]")
    page.wait_for_timeout(200)
    chosen = page.evaluate(READ)["sigma2"]
    assert chosen == pytest.approx(found["rules"]["median"], rel=1e-5)


def test_settings_change_the_learner(demo: Any, look: Any) -> None:
    page = open_lab(look, demo, "s2=5")
    page.select_option("#d", "50")
    page.wait_for_timeout(500)
    page.fill("#e", "6")
    page.keyboard.press("Tab")
    page.fill("#eta", "0.2")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    found = page.evaluate(READ)
    model, X, _, _ = fit(5.0, d=50, eta=0.2, epochs=6)
    np.testing.assert_allclose(found["predictions"], model.predict(X), atol=1e-9)
    assert "d=50" in page.url
    assert "e=6" in page.url


def test_node_is_chosen_by_list_and_by_point(demo: Any, look: Any) -> None:
    page = open_lab(look, demo)
    names = page.eval_on_selector_all("#lab-node option", "all => all.map(e => e.textContent)")
    page.select_option("#lab-node", label=names[5])
    page.wait_for_timeout(200)
    assert page.evaluate(READ)["node"] == names[5]
    assert page.inner_text("#weights-note").startswith(names[5])
    point = page.evaluate(
        """async () => {
        const { lab } = await import("./studio/sigma2_view.js");
        document.getElementById("chart-predictions").scrollIntoView();
        const box = document.getElementById("chart-predictions").getBoundingClientRect();
        const far = lab.points.map(([x], i) => [x, i]).sort((a, b) => b[0] - a[0])[0][1];
        return [box.left + lab.points[far][0], box.top + lab.points[far][1],
                lab.split.names[lab.learner.unknown[far]]];
    }"""
    )
    page.mouse.click(point[0], point[1])
    page.wait_for_timeout(200)
    assert page.evaluate(READ)["node"] == point[2]
