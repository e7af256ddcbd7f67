"""The printed page: no table is cut, and no control is printed."""

from pathlib import Path
from typing import Any

import pytest

import gradraker
from gradraker.report import build_explorer, render_predictions, summarize_predictions

N_CLASSES = 18
PAPER = {"width": 673, "height": 980}  # A4 without its margins, in CSS pixels


@pytest.fixture(scope="module")
def page() -> str:
    names = [f"person number {i} of a place with a long name" for i in range(90)]
    classes = [f"Department of {chr(65 + i)} and related studies" for i in range(N_CLASSES)]
    edges = [(names[i], names[(i + k * N_CLASSES) % 90]) for i in range(90) for k in (1, 2)]
    known = {names[i]: classes[i % N_CLASSES] for i in range(70)}
    result = gradraker.predict_nodes(edges, known)
    summary = summarize_predictions(result, n_contributors=3)
    return render_predictions(summary, explorer=build_explorer(result))


@pytest.fixture
def paper(page: str, chromium: Any, tmp_path: Path) -> Any:
    """The page as a printer gets it, with the panel of a node open."""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    tab = chromium.new_page(viewport=PAPER)
    tab.emulate_media(media="print")
    tab.goto((tmp_path / "page.html").as_uri() + "#node-80")
    yield tab
    tab.close()


def test_no_table_is_cut_on_paper(paper: Any) -> None:
    ends = paper.locator("table, figure svg, .tiles").evaluate_all(
        "found => found.map(one => one.getBoundingClientRect().right)"
    )
    assert len(ends) > 10
    assert max(ends) <= PAPER["width"]


def test_nothing_to_click_is_printed(paper: Any) -> None:
    for selector in (".controls", "input", "select", "text=Back to the table", "text=Search, sort"):
        assert paper.locator(selector).count() > 0
        assert not any(one.is_visible() for one in paper.locator(selector).all())
    assert paper.locator("#panel table").first.is_visible()  # an open panel is printed


def test_printed_table_names_its_filters(paper: Any) -> None:
    paper.evaluate(
        "() => { const field = document.getElementById('query'); field.value = 'number 4';"
        " field.dispatchEvent(new Event('input')); }"
    )
    text = paper.locator("#count").text_content()
    assert text == "11 of 90 nodes (“number 4” in the name); shown are 1 to 11"
