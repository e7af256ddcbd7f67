"""Files of figures."""

import pytest

from gradraker.plotting import figure_bytes, freeze_layout, write_figure
from gradraker.plotting.figure import new_axes


def test_figure_bytes_leave_the_figure_unchanged():
    axes = new_axes()
    axes.plot([1.0, 2.0])
    figure = axes.figure
    canvas = figure.canvas
    first = {kind: figure_bytes(figure, kind) for kind in ("svg", "pdf", "png")}
    assert figure.dpi == 200
    assert figure.canvas is canvas
    again = {kind: figure_bytes(figure, kind) for kind in ("png", "pdf", "svg")}
    assert again == first
    width, height = (int.from_bytes(first["png"][i : i + 4]) for i in (16, 20))
    assert (width, height) == (1100, 720)  # 5.5 by 3.6 inches


def test_freeze_layout_changes_nothing_visible():
    figures = []
    for frozen in (False, True):
        axes = new_axes()
        axes.plot([1.0, 2.0])
        axes.set_xlabel("x")
        if frozen:
            freeze_layout(axes.figure)
        figures.append(figure_bytes(axes.figure, "png"))
    assert figures[0] == figures[1]


def test_write_figure_chooses_the_format_by_the_suffix(tmp_path):
    figure = new_axes().figure
    assert write_figure(figure, tmp_path / "a.PDF").read_bytes().startswith(b"%PDF")
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png, \.pdf, got '.*a\.jpg'"):
        write_figure(figure, tmp_path / "a.jpg")
    with pytest.raises(ValueError, match="kind must be one of svg, png, pdf, got 'gif'"):
        figure_bytes(figure, "gif")
