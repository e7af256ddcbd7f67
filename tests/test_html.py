"""Notebook views: safe, compact, and available for every result."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from gradraker.datasets import GraphDataset
from hostile_names import HOSTILE_NAMES


class Tags(HTMLParser):
    def __init__(self, text: Any) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: Any, attrs: Any) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture(scope="module")
def results() -> Any:
    names = HOSTILE_NAMES
    n = len(names)
    edges = [(names[i], names[(i + k) % n]) for i in range(n) for k in (1, 2, 3)]
    numbers = {names[i]: float(np.sin(i / 4.0)) for i in range(40)}
    labels = {names[i]: names[i % 3] for i in range(40)}
    return (
        gradraker.predict_nodes(edges, numbers, coverage=0.9),
        gradraker.predict_nodes(edges, labels),
    )


def list_views(results: Any) -> Any:
    values, classes = results
    ring = np.roll(np.eye(4), 1, axis=1)
    evil = HOSTILE_NAMES[:4]
    return {
        "predictions": values,
        "predictions of classes": classes,
        "explanation": values.explain(HOSTILE_NAMES[40:44]),
        "explanation of classes": classes.explain(HOSTILE_NAMES[40:44]),
        "choice": values.model.choice_,
        "error": values.model.left_out_error_,
        "error of classes": classes.model.left_out_error_,
        "left out": values.left_out,
        "data set": GraphDataset(
            ring, np.arange(1.0, 5.0), tuple(evil), name=evil[0], licence=evil[1]
        ),
    }


def test_views_are_safe_and_compact(results: Any) -> None:
    for name, view in list_views(results).items():
        html = view._repr_html_()
        tags = Tags(html)
        assert tags.seen <= {"div", "p", "b", "bdi", "table", "tr", "td", "th"}, name
        assert tags.attributes <= {"style", "scope"}, name
        assert len(html) < 40_000, name
        assert not set("\u202e\x00\x1b\u2028") & set(html), name


def test_counts_and_empty_cells() -> None:
    names = tuple(f"n{i}" for i in range(40))
    html = GraphDataset(np.ones((40, 40)), np.arange(40.0), names, name="x")
    shown = html._repr_html_()
    assert "1\u202f600" in shown
    assert "''" not in shown


def test_views_show_the_numbers(results: Any) -> None:
    values, classes = results
    shown = values._repr_html_()
    assert f"{values.left_out.error.rmse:.4g}" in shown
    assert "lower" in shown
    assert "probability" in classes._repr_html_()
    explained = values.explain(HOSTILE_NAMES[40:41])
    heaviest = float(np.abs(explained.weights).max())
    assert f"{heaviest:.4g}" in explained._repr_html_().replace("−", "-")


def test_edge_list_shows_how_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("sender,receiver\n<b>,x\nx,y\n")
    html = gradraker.read_edges(path)._repr_html_()
    assert "source = sender, target = receiver" in html
    assert "<b>" not in re.sub(r"<b><bdi>", "", html)


def test_printing_an_explanation_shows_its_reasons(results: Any) -> None:
    values, classes = results
    node = HOSTILE_NAMES[44]
    text = str(values.explain([node]))
    assert f"{values.explain([node]).prediction[0]:.4g}, since" in text
    assert text.count(" × ") == 5
    assert HOSTILE_NAMES[classes.model.classes_.tolist().index(classes.predictions[44])]
    told = str(classes.explain([node]))
    assert "value_0" not in told
    assert any(label in told for label in HOSTILE_NAMES[:3])


def test_top_of_classes_names_classes(results: Any) -> None:
    _, classes = results
    top = classes.explain([HOSTILE_NAMES[44]]).top(3)
    assert list(top.columns) == ["node", "known_node", "weight", "value"]
    assert set(top["value"]) <= set(HOSTILE_NAMES[:3])


def test_parts_are_shown_where_an_explanation_has_them(results: Any) -> None:
    from dataclasses import replace

    values, _ = results
    explained = replace(
        values.explain([HOSTILE_NAMES[44]]),
        parts=np.array([[0.25, -0.5]]),
        part_names=("one step", "degrees"),
    )
    assert "one step" in str(explained)
    assert "degrees" in explained._repr_html_()
    assert explained.get_parts(0) == {"one step": 0.25, "degrees": -0.5}
