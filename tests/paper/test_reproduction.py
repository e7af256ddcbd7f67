"""The folder of a reproduction: figures, numbers, the page."""

import base64
import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from browser import MISSING, browser, measured, probed

# Figures that the embedded data allow.
DRAWN = ["fig1", "fig2", "fig3a", "fig3b", "fig3c", "fig3d", "fig4", "fig5", "fig6a", "fig6b"]
DRAWN += ["fig7", "frequencies", "learning-rate", "epochs", "laplacian"]


@pytest.fixture
def folder(reproduced: tuple[Any, ...]) -> Any:
    """Everything that the embedded data allow, with few repeats."""
    return reproduced[0]


def test_all_figures_of_the_embedded_data_are_drawn_in_three_formats(folder: Path) -> None:
    signatures = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in DRAWN for kind in (*signatures, "csv")}
    for name in DRAWN:
        for kind, signature in signatures.items():
            content = (folder / "figures" / f"{name}.{kind}").read_bytes()
            assert content.startswith(signature)
            assert len(content) > 5000


def test_files_have_no_date(folder: Path) -> None:
    for path in (folder / "figures").iterdir():
        content = path.read_bytes()
        assert b"CreationDate" not in content
        assert b"<dc:date>" not in content


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        if tag == "a":
            self.links.append((found["download"], found["href"]))
        if tag != "a":
            assert not found.get("href", "#").startswith(("http", "//")), (tag, found)
            assert "src" not in found


def test_the_page_is_self_contained_and_holds_the_numbers(folder: Path) -> None:
    page = (folder / "report.html").read_text("utf-8")
    tags = Tags(page)
    assert "script" not in tags.tags
    assert "img" not in tags.tags
    assert tags.tags.count("svg") == len(DRAWN)
    assert len(set(tags.ids)) == len(tags.ids)
    assert [name for name, _ in tags.links] == [f"{name}.csv" for name in DRAWN]
    for name, href in tags.links:
        kind, _, content = href.partition(",")
        assert kind == "data:text/csv;base64"
        assert base64.b64decode(content) == (folder / "figures" / name).read_bytes()


def test_the_numbers_behind_a_curve_are_its_repeats_and_their_mean(folder: Path) -> None:
    with (folder / "figures" / "fig6a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = (folder / "results.jsonl").read_text("utf-8").splitlines()
    (sweep,) = [
        one for one in map(json.loads, lines) if one.get("simulation") == "sweep-temperature"
    ]
    gnmse = sweep["results"]["gnmse"]
    for s, row in enumerate(rows):
        assert float(row["sigma2"]) == sweep["results"]["sigma2"][s]
        repeats = [one[s] for one in gnmse]
        assert [float(row[f"repeat_{r}"]) for r in range(len(gnmse))] == repeats
        assert float(row["mean"]) == pytest.approx(sum(repeats) / len(repeats))


def test_markdown_json_and_page_say_the_same(folder: Path) -> None:
    summary = json.loads((folder / "report.json").read_text("utf-8"))
    markdown = (folder / "report.md").read_text("utf-8")
    page = (folder / "report.html").read_text("utf-8")
    assert "&lt;" not in markdown
    assert page.count('class="verdict ') == len(summary["findings"])
    for verdict, n in summary["verdicts"].items():
        assert f"| {verdict} | {n} |" in markdown
        assert page.count(f'">{verdict}</span>') == n
        rows = [line for line in markdown.splitlines() if f" | {verdict} | " in line]
        assert len(rows) == n
    for row in markdown.splitlines():
        if re.match(r"\| (III|IV|V|VI)\.", row):
            assert len(re.findall(r"(?<!\\)\|", row)) == 8


@pytest.mark.browser
@pytest.mark.skipif(browser() is None, reason=MISSING)
@pytest.mark.parametrize("size", [pytest.param("1200,900", marks=pytest.mark.slow), "500,900"])
def test_the_page_in_a_browser(tab: Any, folder: Path, tmp_path: Path, size: str) -> None:
    page = (folder / "report.html").read_text("utf-8")
    dom, console = tab.load(probed(page), tmp_path, size=size)
    assert console == []
    found = measured(dom)
    assert found["title"] == "The paper, reproduced"
    assert len(found["figures"]) == len(DRAWN)
    assert all(width > 300 and height > 150 for width, height in found["figures"])
    assert all(parts > 10 for parts in found["parts"])
    assert found["overflow"] <= 0
