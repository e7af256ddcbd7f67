"""``gradraker sweep``: what it prints and writes, how it is stopped and goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from gradraker import load_temperature, sigma2_sweep
from gradraker.cli import main
from gradraker.sweep import SweepResult

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


def invoke(*arguments):
    return CliRunner().invoke(main, arguments, prog_name="gradraker")


def run(*arguments):
    result = invoke("sweep", *arguments)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with edges.csv and values.csv to be in."""
    monkeypatch.chdir(tmp_path)
    done = invoke("data", "fetch", "temperature", "--edges", "edges.csv", "--values", "values.csv")
    assert done.exit_code == 0, done.output
    return tmp_path


# -- what it makes -------------------------------------------------------------


def test_it_prints_the_best_variance_beside_that_of_the_theory():
    printed = run(*FILES, "--repeats", "5").stdout
    result = SweepResult.load("sweep.jsonl")
    best = re.search(r"Best of the sweep +(\S+) +(\S+)", printed)
    theory = re.search(r"σ²_ed, by the theory +(\S+) +(\S+)", printed)
    assert float(best[1]) == pytest.approx(result.best_, rel=1e-3)
    assert float(best[2]) == pytest.approx(result.mean.min(), rel=1e-3)
    assert float(theory[1]) == pytest.approx(result.median_boundaries[1], rel=1e-3)
    assert "36 sampled, 53 tested; 5 repeats" in printed
    assert printed.endswith("Results: sweep.jsonl\n")


def test_it_is_the_sweep_of_the_library():
    run(*FILES, *QUICK, "--seed", "7", "--learning-rate", "0.2", "--epochs", "2")
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


def test_a_data_set_by_name_is_the_same_as_its_files():
    run(*FILES, *QUICK)
    run("--dataset", "temperature", *QUICK, "--out", "named.jsonl", "--jobs", "2")
    files, named = SweepResult.load("sweep.jsonl"), SweepResult.load("named.jsonl")
    assert np.array_equal(files.gnmse, named.gnmse)
    assert named.settings["data"]["name"] == "Temperature-Jan"


def test_json_has_the_curve_and_no_time():
    first = run(*FILES, *QUICK, "--json")
    summary = json.loads(first.stdout)
    result = SweepResult.load("sweep.jsonl")
    assert [point["gnmse"] for point in summary["curve"]] == result.mean.tolist()
    assert summary["best"]["sigma2"] == result.best_
    assert [point["range"] for point in summary["curve"]] == ["extending"] * 2 + ["disturbing"]
    assert run(*FILES, *QUICK, "--json").stdout == first.stdout


def test_figures_and_pages_are_byte_stable():
    names = ("figure.svg", "figure.png", "figure.pdf", "page.html")
    contents = []
    for _ in range(2):
        for name in names[:3]:
            run(*FILES, *QUICK, "--plot", name, "--report", "page.html")
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


def test_nodes_without_values_take_no_part():
    head, *rows = Path("values.csv").read_text("utf-8").splitlines(keepends=True)
    Path("known.csv").write_text("".join([head, *rows[:50]]), "utf-8")
    run("--edges", "edges.csv", "--values", "known.csv", *QUICK)
    assert SweepResult.load("sweep.jsonl").settings["data"]["nodes"] == 50


def test_a_list_of_variances_is_sorted():
    run(*FILES, *QUICK, "--sigma2", "10,1,5,1")
    assert SweepResult.load("sweep.jsonl").sigma2.tolist() == [1.0, 5.0, 10.0]


def test_the_end_of_the_grid_is_pointed_out():
    printed = run(*FILES, *QUICK, "--sigma2", "0.1:1:3").stdout
    assert "widen --sigma2" in printed


# -- stopped, and on -----------------------------------------------------------


def wait_for_lines(path, n, process):
    for _ in range(3000):
        if path.exists() and path.read_bytes().count(b"\n") >= n:
            return
        assert process.poll() is None, "the sweep ended before it was stopped"
        time.sleep(0.01)
    raise AssertionError("the sweep did not start")


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(folder):
    command = ("sweep", *FILES, "--sigma2", "0.5:50:3", "--repeats", "12", "--frequencies", "20")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
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
    assert "The same command goes on from there" in err
    assert "Traceback" not in err
    run(*command[1:])
    resumed = Path("sweep.jsonl").read_bytes()
    Path("sweep.jsonl").unlink()
    run(*command[1:])
    assert resumed == Path("sweep.jsonl").read_bytes()


def test_another_sweep_in_the_file_is_refused_with_what_differs():
    run(*FILES, *QUICK)
    before = Path("sweep.jsonl").read_bytes()
    result = invoke("sweep", *FILES, *QUICK, "--seed", "1")
    assert result.exit_code == 1
    assert "--out 'sweep.jsonl' holds a sweep of other settings" in result.stderr
    assert "random_state is 0 there and 1 now" in result.stderr
    assert Path("sweep.jsonl").read_bytes() == before


# -- refused -------------------------------------------------------------------


def test_errors_of_the_library_are_in_words_of_the_command_line():
    Path("zeros.csv").write_text(
        "".join(["node,value\n", *(f"{i},{i == 0:d}\n" for i in range(20))]), "utf-8"
    )
    Path("ring.csv").write_text("".join(f"{i},{(i + 1) % 20}\n" for i in range(20)), "utf-8")
    files = ("--edges", "ring.csv", "--values", "zeros.csv")
    result = invoke("sweep", *files, "--sigma2", "1", "--repeats", "50")
    assert result.exit_code == 1
    assert "lower --fraction, or take another --seed" in result.stderr
    assert not Path("sweep.jsonl").exists()


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
def test_wrong_use_is_named(arguments, message):
    result = invoke("sweep", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_without_distributed_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = invoke("sweep", *FILES, *QUICK, "--scheduler", "tcp://127.0.0.1:8786")
    assert result.exit_code == 1
    assert "pip install 'gradraker[dask]'" in result.stderr
    assert not Path("sweep.jsonl").exists()


@pytest.mark.parametrize(("option", "file"), [("--plot", "f.png"), ("--report", "page.html")])
def test_a_missing_package_is_named_before_the_work(monkeypatch, option, file):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = invoke("sweep", *FILES, *QUICK, option, file)
    assert result.exit_code == 1
    assert "pip install 'gradraker[" in result.stderr
    assert not Path("sweep.jsonl").exists()
