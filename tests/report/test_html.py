"""The summary and the page: their numbers, and that the page runs and loads nothing foreign."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import gradraker
from gradraker.report import render_predictions, summarize_predictions
from gradraker.workflow.node_predictions import NodePredictions

EVIL = "<script>alert(1)</script>"
QUOTES = "\"'><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def rendered(summary: dict[str, Any]) -> str:
    """The page of the summary."""
    return render_predictions(summary)


class Page(HTMLParser):
    """Tags, attributes and texts of a page; complains about tags that do not match."""

    VOID = frozenset(["meta", "br", "img", "link", "input", "hr"])

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[Any] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[Any]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag == "p" or self.open[-1] == tag:
            assert self.open.pop() == tag
        else:
            raise AssertionError(f"</{tag}> closes <{self.open[-1]}>")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self) -> Any:
        return " ".join(" ".join(self.texts).split())


def named(names: list[Any]) -> NodePredictions:
    """Predictions on a ring of ten neighbours with the given names for the first nodes."""
    names = [*names, *(f"node {i}" for i in range(30 - len(names)))]
    edges = [(names[i], names[(i + k) % 30]) for i in range(30) for k in (1, 2, 3)]
    known = {names[i]: np.sin(i / 5.0) for i in range(20)}
    return gradraker.predict_nodes(edges, known)


def test_page_shows_the_numbers_of_the_summary(summary: dict[str, Any], rendered: str) -> None:
    page = Page(rendered)
    assert page.tags.count("svg") == page.tags.count("figure") == 4
    for expected in (
        "29 unknown values of a graph with 89 nodes were predicted from 60 known ones",
        summary["transfer"]["verdict"],
        summary["sigma2"]["meaning"],
        f"{summary['held_out']['rmse']:.4g}",
        summary["held_out"]["largest_errors"][0]["node"],
        "edges.csv",
        gradraker.__version__,
    ):
        assert expected in page.text, expected
    assert "none" not in page.text


def test_page_of_a_node_model_shows_its_choice() -> None:
    data = gradraker.load_temperature()
    known = dict(zip(data.node_names[:60], data.values[:60], strict=True))
    result = gradraker.predict_nodes(data, known, coverage=0.9)
    summary = summarize_predictions(result, n_contributors=1)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    choice = summary["choice"]
    assert [term["block"] for term in choice["kernel"]] == [
        term.block for term in sorted(result.model.choice_.kernel, key=lambda term: -term.share)
    ]
    gains = [one["nats"] for one in choice["tried"]]
    assert gains == sorted(gains, reverse=True)
    assert summary["sigma2"] is None
    assert summary["transfer"] is None
    page = Page(render_predictions(summary))
    assert "What was chosen" in page.text
    assert f"{choice['n_tried']} candidates were compared" in page.text
    assert "left out one at a time" in page.text
    assert "From To" in page.text
    assert "Kernel variance" not in page.text


def test_page_is_self_contained_without_scripts(rendered: str) -> None:
    text = rendered
    page = Page(text)
    assert not {"script", "link", "iframe", "object", "embed", "base", "form"} & set(page.tags)
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:")), (tag, name, value)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_ids_are_unique_and_references_lead_to_them(rendered: str) -> None:
    page = Page(rendered)
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    used = {value[1:] for _, name, value in page.attributes if name == "xlink:href"}
    used |= {
        found
        for _, _, value in page.attributes
        for found in re.findall(r"url\(#([^)]*)\)", value or "")
    }
    assert used
    assert used <= set(ids)


def test_equal_summaries_make_equal_pages(summary: dict[str, Any], rendered: str) -> None:
    assert rendered == render_predictions(json.loads(json.dumps(summary)))
    assert not re.search(r"\b20\d\d-\d\d-\d\d", rendered)


def test_names_cannot_inject_html() -> None:
    names = [EVIL, QUOTES, "{{ 7 * 7 }}", "</style><b>", "a&lt;b", "<!--"]
    inputs = {"edges": " ".join(names), "values": " ".join(names)}
    summary = summarize_predictions(named(names), n_contributors=20, inputs=inputs)
    # They are among the contributors of some shown node, so that the escape is really tested.
    contributors = {
        other["node"] for one in summary["predictions"] for other in one["contributors"]
    }
    assert contributors >= set(names)
    page = Page(render_predictions(summary))
    for name in names:
        assert name in page.texts
    assert "".join(page.texts).count(inputs["edges"]) == 2
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert "49" not in page.texts


def test_invisible_characters_of_names_are_written_out() -> None:
    names = ["a\u202eb", "c\x00d", "   ", "e\u200bf", "emoji 🎉", "שלום"]
    summary = summarize_predictions(named(names), n_contributors=20)
    page = Page(render_predictions(summary))
    for shown in (r"a\u202eb", r"c\x00d", "'   '", r"e\u200bf", "emoji 🎉", "שלום"):
        assert shown in "".join(page.texts)
    assert not set("\u202e\x00\u200b") & set("".join(page.texts))


def test_page_without_held_out_nodes_and_ranges() -> None:
    result = gradraker.predict_nodes(
        {"a": ["x"], "b": ["x"], "c": ["x"]},
        {"a": 1.0, "b": 1.0},
        model=gradraker.SKGNodeRegressor(sigma2=1.0),
    )
    summary = summarize_predictions(result)
    assert summary["sigma2"]["range"] is None
    assert summary["held_out"] is None
    assert summary["transfer"] is None
    page = Page(render_predictions(summary))
    assert page.tags.count("svg") == 1  # the distribution of the predictions
    assert "no estimate of the error" in page.text
    assert "no ranges to compare" in page.text


def test_page_says_when_the_mean_is_better(summary: dict[str, Any], rendered: str) -> None:
    worse = summary | {"held_out": summary["held_out"] | {"rmse": 9.0, "rmse_of_mean": 3.0}}
    assert "do not rely on these predictions" in Page(render_predictions(worse)).text
    assert "do not rely" not in Page(rendered).text


def test_page_where_the_mean_has_no_error() -> None:
    summary = summarize_predictions(named([]))
    still = summary | {"held_out": summary["held_out"] | {"rmse": 0.0, "rmse_of_mean": 0.0}}
    assert "not smaller" in Page(render_predictions(still)).text


def test_report_without_jinja2_says_what_to_install(
    summary: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'gradraker\[report\]'"):
        render_predictions(summary)
