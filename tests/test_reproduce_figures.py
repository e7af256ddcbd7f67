"""The paper's figures: axes, labels, marks; and files of figures."""

import numpy as np
import pytest

from gradraker.paper.drawing import draw_paper_figure
from gradraker.paper.plan import PARTS, SIMULATIONS
from gradraker.paper.run import run_paper
from gradraker.paper.tables import figure_table
from gradraker.plotting import freeze_layout

# Figures that the embedded data allow.
EMBEDDED = [
    name
    for name in PARTS
    if name != "numbers" and SIMULATIONS[PARTS[name][0]].data.startswith("temperature")
]
CURVES = ("fig1", "fig6a", "fig6b", "frequencies", "learning-rate", "epochs")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADRAKER_DATA", str(tmp_path_factory.mktemp("nothing")))
        return run_paper(fast=True)


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize("name", CURVES)
def test_curves_have_a_logarithmic_axis_and_say_how_many_repeats(results, name):
    axes = draw_paper_figure(results, name).axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == r"Kernel variance $\sigma^2$"
    assert axes.get_ylabel() == "GNMSE"
    assert "mean of 3 repeats ± standard error" in axes.get_legend().get_title().get_text()
    assert len(axes.collections) >= 1  # the band


@pytest.mark.parametrize("name", EMBEDDED)
def test_nothing_is_cut_off_at_the_edge(results, name):
    figure = draw_paper_figure(results, name)
    freeze_layout(figure)
    figure.draw_without_rendering()
    for axes in figure.axes:
        texts = [axes.title, axes.xaxis.label, axes.yaxis.label]
        legend = axes.get_legend()
        for part in [text for text in texts if text.get_text()] + ([legend] if legend else []):
            box = part.get_window_extent()
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_figure_1_shades_and_marks_the_four_ranges(results):
    axes = draw_paper_figure(results, "fig1").axes[0]
    names = [text.get_text() for text in axes.texts]
    assert names == ["Chaos", "Extending", "Disturbing", "Averaging"]
    marked = sorted(line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1)
    boundaries = np.median(results.of("sweep-temperature")["boundaries"], axis=0)
    assert set(boundaries) <= set(marked)
    assert any("sigma^2_{ce}" in label for label in labels(axes))
    assert any("sigma^2_{da}" in label for label in labels(axes))


def test_figure_6_marks_the_printed_and_our_boundary(results):
    axes = draw_paper_figure(results, "fig6b").axes[0]
    assert r"$\sigma^2_{ed}$ in the paper: 2.08" in labels(axes)
    ed = np.median(results.of("sweep-temperature-weighted")["boundaries"], axis=0)[1]
    assert rf"$\sigma^2_{{ed}}$ = {ed:.3g}" in labels(axes)
    assert len(axes.texts) == 0  # no names of ranges
    assert axes.get_ylim()[0] == 0.0


@pytest.mark.parametrize(("letter", "sigma2"), [("a", 0.1), ("b", 2), ("c", 10), ("d", 300)])
def test_figure_3_shows_the_weights_of_its_variance(results, letter, sigma2):
    axes = draw_paper_figure(results, f"fig3{letter}").axes[0]
    assert rf"$\sigma^2$ = {sigma2:g}" in axes.get_legend().get_title().get_text()
    points = {line.get_label(): line.get_ydata() for line in axes.lines}
    header, *rows = figure_table(results, f"fig3{letter}")
    table = dict(zip(header, zip(*rows, strict=True), strict=True))
    np.testing.assert_array_equal(points["$B_{i,T+1}$"], table["B"])
    np.testing.assert_array_equal(points["$F_{i,T+1}$"], table["F"])
    assert list(table["time"]) == list(range(1, 109))


def test_figure_5_has_a_panel_for_each_variance_in_degrees(results):
    figure = draw_paper_figure(results, "fig5")
    assert len(figure.axes) == 4
    titles = [axes.get_title() for axes in figure.axes]
    assert [title.split("(")[1] for title in titles] == [
        "chaos)",
        "extending)",
        "disturbing)",
        "averaging)",
    ]
    assert figure.axes[0].get_ylabel() == "January mean temperature (°C)"
    assert figure.axes[2].get_xlabel() == "Altitude (m a.s.l.)"
    header, *rows = figure_table(results, "fig5")
    assert header[:3] == ["altitude_m", "true_c", "sigma2_0.1_c"]
    assert min(row[1] for row in rows) >= -14.0  # Jungfraujoch
    assert max(row[1] for row in rows) <= 2.7


def test_pairs_are_drawn_as_often_as_they_are_counted(results):
    axes = draw_paper_figure(results, "fig7").axes[0]
    _, *rows = figure_table(results, "fig7")
    points = next(line for line in axes.lines if line.get_label() == "Pair of nodes")
    assert len(points.get_xdata()) == sum(row[2] for row in rows) == 36 * 35 // 2


def test_tables_of_the_other_figures(results):
    assert len(figure_table(results, "fig2")) == 1 + 36
    header, *rows = figure_table(results, "fig4")
    assert header == ["time", "alpha"]
    assert rows[-1] == [108, None]  # at the last step F = B whatever α is
    header, *rows = figure_table(results, "epochs")
    assert header == ["n_epochs", "sigma2", "mean", "standard_error"]
    assert sorted({row[0] for row in rows}) == [1, 3, 10, 30]
