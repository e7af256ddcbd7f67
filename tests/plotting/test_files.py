"""Figures as files and as parts of pages."""

import re
from pathlib import Path

import pytest

from gradraker.plotting import (
    freeze_layout,
    plot_held_out,
    render_figure,
    render_inline_svg,
    write_figure,
)
from gradraker.plotting.figure import make_axes


def test_files_leave_the_figure_as_it_was() -> None:
    axes = make_axes()
    axes.plot([1.0, 2.0])
    figure = axes.figure
    canvas = figure.canvas
    first = {kind: render_figure(figure, kind) for kind in ("svg", "pdf", "png")}  # type: ignore[arg-type]
    assert figure.dpi == 200
    assert figure.canvas is canvas
    again = {kind: render_figure(figure, kind) for kind in ("png", "pdf", "svg")}  # type: ignore[arg-type]
    assert again == first
    width, height = (int.from_bytes(first["png"][i : i + 4]) for i in (16, 20))
    assert (width, height) == (1100, 720)  # 5.5 by 3.6 inches


def test_a_frozen_layout_changes_nothing_to_be_seen() -> None:
    figures = []
    for frozen in (False, True):
        axes = make_axes()
        axes.plot([1.0, 2.0])
        axes.set_xlabel("x")
        if frozen:
            freeze_layout(axes.figure)  # type: ignore[arg-type]
        figures.append(render_figure(axes.figure, "png"))  # type: ignore[arg-type]
    assert figures[0] == figures[1]


def test_figures_are_written_by_the_ending_of_the_name(tmp_path: Path) -> None:
    figure = make_axes().figure
    assert write_figure(figure, tmp_path / "a.PDF").read_bytes().startswith(b"%PDF")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png, \.pdf, got '.*a\.jpg'"):
        write_figure(figure, tmp_path / "a.jpg")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="kind must be one of 'svg', 'png', 'pdf', got 'gif'"):
        render_figure(figure, "gif")  # type: ignore[arg-type]


def test_svg_has_no_date_no_random_ids_and_a_description() -> None:
    texts = [
        render_inline_svg(
            plot_held_out([1.0, 2.0], [1.5, 1.8]).figure,  # type: ignore[arg-type]
            prefix="p",
            description='a "b" <c>',
        )
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    assert texts[0].startswith("<svg ")
    assert 'role="img" aria-label="a &quot;b&quot; &lt;c&gt;"' in texts[0]
    assert "<metadata" not in texts[0]
    assert not re.search(r"<svg[^>]*\s(width|height)=", texts[0])
    assert re.search(r"<svg[^>]*viewBox=", texts[0])
