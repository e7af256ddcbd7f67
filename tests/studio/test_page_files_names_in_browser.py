"""Hostile names of nodes and classes do not run scripts, and classes work like numbers."""

import csv
from typing import Any

import pytest

from gradraker import NodeClassifier
from hostile_names import HOSTILE_NAMES
from studio_service import StudioService

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.slow]

# A file of text holds neither half letters nor NUL, and blanks at the ends of fields are lost.
NAMES = [
    name
    for name in HOSTILE_NAMES
    if name.strip() == name and "\ud800" not in name and "\x00" not in name
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: Any) -> Any:
    folder = tmp_path_factory.mktemp("hostile")
    model = NodeClassifier()
    n = len(NAMES)
    edges = [(NAMES[i], NAMES[(i + k) % n]) for i in range(n) for k in (1, 2)]
    labels = {name: NAMES[i % 4] for i, name in enumerate(NAMES[:30])}
    file = model.fit(edges, labels, directed=False).save(folder / "model.gr")
    words = ("--model", file, "--title", NAMES[1], "--unit", NAMES[9])
    with StudioService(*words) as service:
        service.model = model
        yield service


COUNT = """() => document.querySelectorAll("iframe, base, template, math, img, " +
  "meta[http-equiv], script:not([src='studio/main.js'])").length"""


def test_hostile_names_do_not_run_scripts(hostile: Any, look: Any) -> None:
    page = look(hostile)
    assert page.title() == f"{NAMES[1]} · gradraker studio"
    assert page.inner_text("#title") == NAMES[1]
    for name in NAMES[:28]:
        page.fill("#search", name)
        page.wait_for_selector("#matches li[id]")
        page.keyboard.press("Enter")
        page.wait_for_selector("#sum")
    for view in ("stream", "table", "sigma2", "graph"):
        page.click(f"#tab-{view}")
        page.wait_for_timeout(300)
    page.click("#tab-graph")
    assert page.evaluate(COUNT) == 0
    hidden = set("\u202e\u2066\u200b\x07\x1b\u2028\u2029")
    page.click("#tab-table")
    page.wait_for_selector("#rows tr")
    for _ in range(3):
        assert not hidden & set(page.evaluate("() => document.body.innerText"))
        if page.is_enabled("text=Next"):
            page.click("text=Next")


def test_hostile_names_in_a_snapshot_and_a_csv(
    hostile: Any, look: Any, chromium: Any, tmp_path: Any
) -> None:
    from studio_service import Watched

    page = look(hostile)
    for button, file in (("#share-file", "a.html"), ("#share-csv", "a.csv")):
        page.click("#share summary")
        with page.expect_download() as waiting:
            page.click(button)
        waiting.value.save_as(tmp_path / file)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    assert len(rows) == len(NAMES) + 1
    assert not any(row[0].startswith(("=", "-", "+", "@")) for row in rows[1:])
    watched = Watched(chromium.new_context(offline=True), "file:")
    alone = watched.open((tmp_path / "a.html").as_uri())
    alone.fill("#search", NAMES[0])
    alone.keyboard.press("Enter")
    alone.wait_for_selector("#sum")
    found = alone.evaluate(
        "() => document.querySelectorAll('iframe, base, img, form[action]').length"
    )
    assert found == 0
    assert alone.evaluate("() => document.scripts.length") == 2
    watched.close()


def test_classes_are_shown_and_imagined(hostile: Any, look: Any) -> None:
    page = look(hostile, "colour=class")
    name = NAMES[35]
    page.fill("#search", name)
    page.wait_for_selector("#matches li[id]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#sum")
    (label,) = hostile.model.predict([name])
    assert page.inner_text("#prediction") == label
    explanation = hostile.model.explain([name])
    score = float(explanation.prediction[0].max())
    assert float(page.get_attribute("#sum", "data-sum")) == pytest.approx(score, abs=1e-9)
    page.select_option("#what-if-value", "3")
    assert page.inner_text("#what-if")
    page.click("#tab-sigma2")
    page.wait_for_selector("text=the values here are classes")
