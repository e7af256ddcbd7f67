"""``gradraker sweep``: what it prints and writes, and how it is stopped and continued."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forked_process import start_python
from gradraker import load_temperature, sigma2_sweep
from gradraker.sweep import SweepResult
from sweep_process import wait_for_lines

FILES = ("--edges", "edges.csv", "--values", "values.csv")
QUICK = ("--sigma2", "0.5:50:3", "--repeats", "4", "--frequencies", "20")

# The command line, with repeats that take a while.
SLOW = """
import sys, time
from gradraker.cli import main
from gradraker.sweep import variance_sweep as sweep

fast = sweep.run_repeat
def slow(*arguments, **options):
    time.sleep(0.15)
    return fast(*arguments, **options)

sweep.run_repeat = slow
main(sys.argv[1:], prog_name="gradraker")
"""


@pytest.fixture
def sweep(run: Callable[..., Any]) -> Callable[..., Any]:
    """Run a sweep that succeeds."""

    def invoke(*arguments: Any) -> Any:
        result = run("sweep", *arguments)
        assert result.exit_code == 0, result.output
        return result

    return invoke


@pytest.fixture(autouse=True)
def folder(run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with edges.csv and values.csv to be in."""
    monkeypatch.chdir(tmp_path)
    done = run("data", "fetch", "temperature", "--edges", "edges.csv", "--values", "values.csv")
    assert done.exit_code == 0, done.output
    return tmp_path


# -- what it makes -------------------------------------------------------------


def test_sweep_prints_the_best_variance_and_that_of_the_theory(sweep: Callable[..., Any]) -> None:
    printed = sweep(*FILES, "--repeats", "5").stdout
    result = SweepResult.load("sweep.jsonl")
    best = re.search(r"Best of the sweep +(\S+) +(\S+)", printed)
    theory = re.search(r"σ²_ed, by the theory +(\S+) +(\S+)", printed)
    assert best is not None
    assert float(best[1]) == pytest.approx(result.best_, rel=1e-3)
    assert best is not None
    assert float(best[2]) == pytest.approx(result.mean.min(), rel=1e-3)
    assert theory is not None
    assert float(theory[1]) == pytest.approx(result.median_boundaries[1], rel=1e-3)
    assert "36 known, 53 unknown; 5 repeats" in printed
    assert printed.endswith("Results: sweep.jsonl\n")


def test_sweep_equals_sigma2_sweep(sweep: Callable[..., Any]) -> None:
    sweep(*FILES, *QUICK, "--seed", "7", "--learning-rate", "0.2", "--epochs", "2")
    wanted = sigma2_sweep(
        load_temperature(),
        sigma2=[0.5, 5.0, 50.0],
        n_repeats=4,
        n_frequencies=20,
        learning_rate=0.2,
        n_epochs=2,
        random_state=7,
    )
    found = SweepResult.load("sweep.jsonl")
    np.testing.assert_allclose(found.sigma2, wanted.sigma2, rtol=1e-15)
    np.testing.assert_allclose(found.gnmse, wanted.gnmse, rtol=1e-9)
    assert found.settings["data"]["name"] == "edges.csv"


@pytest.mark.process
@pytest.mark.workers
def test_sweep_of_a_named_dataset_equals_that_of_its_files(sweep: Callable[..., Any]) -> None:
    sweep(*FILES, *QUICK)
    sweep("--dataset", "temperature", *QUICK, "--out", "named.jsonl", "--jobs", "2")
    files, named = SweepResult.load("sweep.jsonl"), SweepResult.load("named.jsonl")
    assert np.array_equal(files.gnmse, named.gnmse)
    assert named.settings["data"]["name"] == "Temperature-Jan"


def test_sweep_json_has_the_curve_and_no_times(sweep: Callable[..., Any]) -> None:
    first = sweep(*FILES, *QUICK, "--json")
    summary = json.loads(first.stdout)
    result = SweepResult.load("sweep.jsonl")
    assert [point["gnmse"] for point in summary["curve"]] == result.mean.tolist()
    assert summary["best"]["sigma2"] == result.best_
    assert [point["range"] for point in summary["curve"]] == ["extending"] * 2 + ["disturbing"]
    assert sweep(*FILES, *QUICK, "--json").stdout == first.stdout


def test_sweep_figures_and_pages_are_byte_stable(sweep: Callable[..., Any]) -> None:
    names = ("figure.svg", "figure.png", "figure.pdf", "page.html")
    contents = []
    for _ in range(2):
        for name, more in zip(names, ([], [], ["--report", "page.html"]), strict=False):
            sweep(*FILES, *QUICK, "--plot", name, *more)
        contents.append([Path(name).read_bytes() for name in names])
        Path("sweep.jsonl").unlink()
    assert contents[0] == contents[1]
    svg, png, pdf, page = contents[0]
    assert b"<svg" in svg
    assert png.startswith(b"\x89PNG")
    assert pdf.startswith(b"%PDF")
    text = page.decode()
    assert text.count("<figure") == 1
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_sweep_excludes_nodes_without_values(sweep: Callable[..., Any]) -> None:
    head, *rows = Path("values.csv").read_text("utf-8").splitlines(keepends=True)
    Path("known.csv").write_text("".join([head, *rows[:50]]), "utf-8")
    sweep("--edges", "edges.csv", "--values", "known.csv", *QUICK)
    assert SweepResult.load("sweep.jsonl").settings["data"]["nodes"] == 50


def test_sweep_sorts_a_list_of_variances(sweep: Callable[..., Any]) -> None:
    sweep(*FILES, *QUICK, "--sigma2", "10,1,5,1")
    assert SweepResult.load("sweep.jsonl").sigma2.tolist() == [1.0, 5.0, 10.0]


def test_sweep_says_that_the_best_variance_is_at_an_end_of_the_grid(
    sweep: Callable[..., Any],
) -> None:
    printed = sweep(*FILES, *QUICK, "--sigma2", "0.1:1:3").stdout
    assert "widen --sigma2" in printed


# -- stopped, and on -----------------------------------------------------------


@pytest.mark.process
def test_ctrl_c_keeps_finished_repeats_and_prints_how_to_continue(
    sweep: Callable[..., Any], folder: Path
) -> None:
    command = ("sweep", *FILES, "--sigma2", "0.5:50:3", "--repeats", "12", "--frequencies", "20")
    process = start_python(
        *(SLOW, *command), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        wait_for_lines(folder / "sweep.jsonl", 3, process)
        os.kill(process.pid, signal.SIGINT)
    finally:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    n_done = (folder / "sweep.jsonl").read_bytes().count(b"\n") - 1
    assert 2 <= n_done < 12
    assert f"{n_done} of 12 repeats are in sweep.jsonl" in err
    assert "The same command continues from there" in err
    assert "Traceback" not in err
    sweep(*command[1:])
    resumed = Path("sweep.jsonl").read_bytes()
    Path("sweep.jsonl").unlink()
    sweep(*command[1:])
    assert resumed == Path("sweep.jsonl").read_bytes()


def test_sweep_refuses_a_file_of_another_sweep_and_names_differences(
    run: Callable[..., Any], sweep: Callable[..., Any]
) -> None:
    sweep(*FILES, *QUICK)
    before = Path("sweep.jsonl").read_bytes()
    result = run("sweep", *FILES, *QUICK, "--seed", "1")
    assert result.exit_code == 1
    assert "--out 'sweep.jsonl' holds a sweep of other settings" in result.stderr
    assert "random_state is 0 there and 1 now" in result.stderr
    assert Path("sweep.jsonl").read_bytes() == before


# -- refused -------------------------------------------------------------------


def test_sweep_errors_name_options_instead_of_arguments(run: Callable[..., Any]) -> None:
    Path("zeros.csv").write_text(
        "".join(["node,value\n", *(f"{i},{i == 0:d}\n" for i in range(20))]), "utf-8"
    )
    Path("ring.csv").write_text("".join(f"{i},{(i + 1) % 20}\n" for i in range(20)), "utf-8")
    files = ("--edges", "ring.csv", "--values", "zeros.csv")
    result = run("sweep", *files, "--sigma2", "1", "--repeats", "50")
    assert result.exit_code == 1
    assert "lower --fraction, or take another --seed" in result.stderr
    assert not Path("sweep.jsonl").exists()


def test_sweep_of_one_known_node_names_the_file(run: Callable[..., Any]) -> None:
    Path("one.csv").write_text("node,value\nPilatus,2\n", "utf-8")
    result = run("sweep", "--edges", "edges.csv", "--values", "one.csv")
    assert result.exit_code == 1
    assert "one.csv: 1 nodes have known values, and at least 2 are needed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give --edges and --values, or --dataset"),
        (("--edges", "edges.csv"), "give --edges and --values, or --dataset"),
        ((*FILES, "--dataset", "temperature"), "give --edges and --values, or --dataset"),
        (("--dataset", "nothing"), "--dataset"),
        ((*FILES, "--sigma2", "1:0.5:3"), "LOW:HIGH:COUNT"),
        ((*FILES, "--sigma2", "1:2"), "LOW:HIGH:COUNT"),
        ((*FILES, "--sigma2", "0:2:3"), "LOW:HIGH:COUNT"),
        ((*FILES, "--sigma2", "-1,2"), "LOW:HIGH:COUNT"),
        ((*FILES, "--sigma2", "nan"), "LOW:HIGH:COUNT"),
        ((*FILES, "--fraction", "nan"), "is not between 0 and 1"),
        ((*FILES, "--plot", "figure.jpeg"), "does not end in one of .svg, .png, .pdf"),
        ((*FILES, "--jobs", "2", "--scheduler", "tcp://x:1"), "exclude each other"),
        ((*FILES, "--scheduler", "host"), "such as tcp://host:8786"),
        ((*FILES, "--scheduler", "tcp://host:port"), "such as tcp://host:8786"),
        ((*FILES, "--out", "-"), "--out cannot be '-'"),
        ((*FILES, "--out", "values.csv"), "name the same file"),
    ],
)
def test_sweep_refuses_wrong_options(
    run: Callable[..., Any], arguments: tuple[Any, ...], message: str
) -> None:
    result = run("sweep", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_sweep_without_distributed_names_the_extra(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run("sweep", *FILES, *QUICK, "--scheduler", "tcp://127.0.0.1:8786")
    assert result.exit_code == 1
    assert "pip install 'gradraker[dask]'" in result.stderr
    assert not Path("sweep.jsonl").exists()


@pytest.mark.parametrize(("option", "file"), [("--plot", "f.png"), ("--report", "page.html")])
def test_sweep_names_a_missing_package_before_the_work(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, option: str, file: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("sweep", *FILES, *QUICK, option, file)
    assert result.exit_code == 1
    assert "pip install 'gradraker[" in result.stderr
    assert not Path("sweep.jsonl").exists()
