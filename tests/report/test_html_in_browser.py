"""The page in a real browser: no console messages, and all figures are drawn."""

from pathlib import Path
from typing import Any

import pytest

import gradraker
from browser import MISSING, browser, measured, probed
from gradraker.report import render_predictions, summarize_predictions

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(browser() is None, reason=MISSING),
]


# Figures of the page, by method: SKG shows the ranges of σ² as well.
N_FIGURES = {"nodes": 3, "skg": 4}


@pytest.fixture(scope="module", params=N_FIGURES)
def method(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(scope="module")
def page(method: str) -> str:
    data = gradraker.load_temperature()
    names = list(data.node_names)
    names[60] = "<script>alert(1)</script>"  # the first of the predicted nodes
    entries = data.adjacency.tocoo()
    edges = [(names[i], names[j]) for i, j in zip(*entries.coords, strict=True)]
    known = dict(zip(names[:60], data.values[:60].tolist(), strict=True))
    model = {"nodes": gradraker.NodeRegressor, "skg": gradraker.SKGNodeRegressor}[method]()
    result = gradraker.predict_nodes(edges, known, model=model)
    return render_predictions(summarize_predictions(result, n_contributors=2))


def test_console_messages_are_seen(tab: Any, tmp_path: Path) -> None:
    # The test below would pass for ever if the browser stopped to report errors.
    _, console = tab.load("<!DOCTYPE html><script>no_such_name()</script>", tmp_path)
    assert any("no_such_name" in line for line in console)


def test_page_loads_without_console_messages(
    tab: Any, page: str, method: str, tmp_path: Path
) -> None:
    dom, console = tab.load(page, tmp_path)
    assert console == []
    assert dom.count("<svg") == N_FIGURES[method]
    assert "alert(1)" in dom
    assert "<script" not in dom


@pytest.mark.parametrize("size", [pytest.param("1200,900", marks=pytest.mark.slow), "500,900"])
def test_figures_are_drawn_and_the_page_fits(
    tab: Any, page: str, method: str, tmp_path: Path, size: str
) -> None:
    dom, console = tab.load(probed(page), tmp_path, size=size)
    assert console == []
    found = measured(dom)
    assert found["title"] == "Predicted node values"
    assert len(found["figures"]) == N_FIGURES[method]
    for width, height in found["figures"]:
        assert width > 300
        assert height > 90
    assert all(parts > 10 for parts in found["parts"])
    assert found["overflow"] <= 0  # nothing to scroll sideways


def test_the_policy_of_the_page_stops_scripts(tab: Any, page: str, tmp_path: Path) -> None:
    evil = page.replace("</body>", "<script>document.title = 'taken'</script></body>", 1)
    dom, console = tab.load(evil, tmp_path)
    assert "<title>Predicted node values</title>" in dom
    assert any("Content Security Policy" in line for line in console)
