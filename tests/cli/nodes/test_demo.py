"""``gradraker demo``, mostly with a learner whose predictions are known beforehand."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from constant_learner import draw_split
from gradraker.cli.nodes.demo import FIGURE_NAME
from gradraker.workflow.demo import run_demo

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_demo_prints_a_table_and_writes_the_figure(
    constant: type[Any], run_in_folder: Callable[..., Any]
) -> None:
    result = run_in_folder("demo", "--out", "a/b")
    assert result.exit_code == 0, result.output
    figure = Path("a/b", FIGURE_NAME)
    assert figure.read_bytes().startswith(PNG_SIGNATURE)
    files = ["edges.csv", "known.csv", FIGURE_NAME, "values.csv"]
    assert sorted(path.name for path in figure.parent.iterdir()) == files
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "Graph 89 nodes, 2515 edges" in lines
    assert "Split 36 known, 53 unknown (seed 0)" in lines
    assert "σ² of the kernel 4.25, from the known nodes alone (rule 'theory')" in lines
    assert "worst Jungfraujoch 3571 -14.0 -4.0 +10.0" in lines
    assert f"Figure: {figure}" in lines
    assert "Source: MeteoSwiss" in lines
    assert [line.split()[:2] for line in lines[-3:]] == [
        ["gradraker", command] for command in ("predict", "explain", "update")
    ]
    assert max(map(len, result.stdout.splitlines()[:-3])) <= 80
    assert "\x1b" not in result.stdout


def test_demo_without_out_writes_the_same_figure_to_its_default_folder(
    constant: type[Any], run_in_folder: Callable[..., Any]
) -> None:
    figure = Path("gradraker-demo", FIGURE_NAME)
    assert run_in_folder("demo").exit_code == 0
    first = figure.read_bytes()
    assert run_in_folder("demo").exit_code == 0  # the folder is there already
    assert figure.read_bytes() == first


def test_demo_json_is_one_object_with_the_numbers_of_run_demo(
    constant: type[Any], run_in_folder: Callable[..., Any]
) -> None:
    result = run_in_folder("demo", "--json", "--seed", "3", "--out", "out")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    facts = json.loads(result.stdout)
    summary = run_demo(seed=3).summary
    assert facts["seed"] == 3
    assert facts["gnmse"] == summary["gnmse"]
    assert facts["gnmse_of_mean"] == summary["gnmse_of_mean"]
    assert facts["worst"][0]["station"] == summary["worst"][0]["station"]
    assert len(facts["best"]) == len(facts["worst"]) == 3
    assert facts["source"] == "Source: MeteoSwiss"
    assert Path(facts["figure"]).read_bytes().startswith(PNG_SIGNATURE)


def test_demo_without_matplotlib_prints_the_table_and_how_to_get_the_figure(
    constant: type[Any], run_in_folder: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_matplotlib(monkeypatch)
    result = run_in_folder("demo")
    assert result.exit_code == 0, result.output
    assert "89 nodes, 2515 edges" in result.stdout
    assert "No figure: " in result.stdout
    assert "pip install 'gradraker[plot]'" in result.stdout
    assert not Path("gradraker-demo", FIGURE_NAME).exists()


def test_demo_json_without_matplotlib_keeps_stdout_clean(
    constant: type[Any], run_in_folder: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_matplotlib(monkeypatch)
    result = run_in_folder("demo", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["figure"] is None
    assert "pip install 'gradraker[plot]'" in result.stderr


def test_a_folder_that_cannot_be_created_is_exit_code_1(
    constant: type[Any], run_in_folder: Callable[..., Any]
) -> None:
    Path("a-file").touch()
    result = run_in_folder("demo", "--out", "a-file/sub")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: a-file/sub: ")


def test_demo_learns_more_than_the_mean(run_in_folder: Callable[..., Any], tmp_path: Path) -> None:
    done = run_in_folder("demo", "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["gnmse"] < facts["gnmse_of_mean"]
    # The paper's boundary σ²_ed: largest squared distance / ln(2D), with D = 200.
    known, _ = draw_split()
    vectors = gradraker.load_temperature("jan").adjacency.toarray()[np.ix_(known, known)]
    farthest = max(np.sum((vectors - one) ** 2, axis=1).max() for one in vectors)
    assert facts["sigma2"] == pytest.approx(farthest / np.log(400))
    figure = tmp_path / facts["figure"]
    assert figure.read_bytes().startswith(PNG_SIGNATURE)
    # matplotlib is imported by other tests of this process, so it can read the figure back.
    from matplotlib.image import imread

    height, width = imread(figure).shape[:2]
    assert width > height > 500
