"""``gradraker reproduce``: what it writes, that it is stable, and how it fails."""

import json
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from command_line import invoke
from gradraker.paper import PARTS, reproduction

pytestmark = pytest.mark.usefixtures("no_data")

# With the embedded data alone.
DRAWN = ["fig1", "fig2", "fig3a", "fig3b", "fig3c", "fig3d", "fig4", "fig5", "fig6a", "fig6b"]
DRAWN += ["fig7", "frequencies", "learning-rate", "epochs", "laplacian"]
LEFT_OUT = ["fig6c", "fig6d", "fig6e", "fig8"]


def reproduce(*arguments: Path | str) -> Result:
    return invoke("reproduce", *arguments)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_output_counts_verdicts_and_names_missing_data(reproduced: tuple[Any, ...]) -> None:
    folder, output = reproduced
    summary = json.loads((folder / "report.json").read_text("utf-8"))
    verdicts = summary["verdicts"]
    assert set(verdicts) == {"agrees", "at the edge", "differs", "cannot be checked"}
    for verdict, n in verdicts.items():
        assert re.search(rf"{verdict.capitalize()}\s+{n}\b", output)
    assert summary["again"] == "gradraker reproduce --seed 0 --fast"
    assert summary["versions"]["matplotlib"] == version("matplotlib")  # the same one, same files
    assert "Source: MeteoSwiss" in (folder / "report.html").read_text("utf-8")  # its licence
    assert [one["name"] for one in summary["left_out"]] == LEFT_OUT
    assert all("https://" in one["reason"] for one in summary["left_out"])
    assert [one["name"] for one in summary["figures"]] == DRAWN
    words = " ".join(output.split())  # the table breaks lines
    assert "fig6c, fig8: data of Cora-Con are not at hand" in words
    assert "'gradraker data fetch cora'" in words
    assert str(folder / "report.html") in output.replace("\n", "")


@pytest.mark.slow
def test_redraw_writes_the_same_files_byte_for_byte(
    reproduced: tuple[Any, ...], tmp_path: Path
) -> None:
    folder, _ = reproduced
    result = reproduce("--redraw", folder / "results.jsonl", "--out", tmp_path / "again")
    assert result.exit_code == 0, result.output
    expected = {name: text for name, text in files(folder).items() if "checkpoints" not in name}
    again = files(tmp_path / "again")
    assert again.keys() == expected.keys()
    for name, content in again.items():
        assert content == expected[name], name


def find_simulation(folder: Path, name: str) -> Any:
    records = map(json.loads, (folder / "results.jsonl").read_text("utf-8").splitlines())
    (found,) = [record for record in records if record.get("simulation") == name]
    return found


@pytest.mark.process
@pytest.mark.workers
@pytest.mark.parametrize(
    ("parts", "n_figures", "others"),
    [
        ("fig6b", 1, [("--jobs", "2")]),
        pytest.param("fig2,fig6b,numbers", 2, [(), ("--jobs", "2")], marks=pytest.mark.slow),
    ],
)
def test_two_runs_and_a_run_with_workers_are_equal_byte_for_byte(
    parts: str, n_figures: int, others: list[tuple[str, ...]], tmp_path: Path
) -> None:
    arguments = ("--fast", "--only", parts, "--seed", "4")
    for n, more in enumerate([(), *others]):
        result = reproduce(*arguments, *more, "--out", tmp_path / str(n))
        assert result.exit_code == 0, result.output
    first = files(tmp_path / "0")
    summary = json.loads(first["report.json"])
    assert summary["again"] == f"gradraker reproduce --seed 4 --fast --only {parts}"
    assert len(first) == 1 + 4 + n_figures * 4
    for n in range(len(others)):
        assert first == files(tmp_path / str(n + 1))
    # And another seed is another run.
    reproduce("--fast", "--only", "fig6b", "--seed", "5", "--out", tmp_path / "other")
    simulation = "sweep-temperature-weighted"
    assert find_simulation(tmp_path / "0", simulation) != find_simulation(
        tmp_path / "other", simulation
    )


def test_ctrl_c_keeps_finished_repeats_and_the_same_command_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reproduction.run_paper

    def stopped(*args: Any, progress: Any, **options: Any) -> Any:
        def report(name: Any, done: Any, total: Any) -> None:
            progress(name, done, total)
            if name == "sweep-temperature-weighted" and 0.0 < done < total:
                raise KeyboardInterrupt

        return real(*args, progress=report, **options)

    arguments = ("--fast", "--only", "fig6b", "--json")
    with monkeypatch.context() as patch:
        patch.setattr(reproduction, "run_paper", stopped)
        result = reproduce(*arguments, "--out", tmp_path / "a")
    assert result.exit_code == 130
    assert "the same command continues" in result.stderr
    (kept,) = (tmp_path / "a" / "checkpoints").iterdir()
    assert 1 < kept.read_text().count("\n") < 4
    assert not (tmp_path / "a" / "report.html").exists()
    assert reproduce(*arguments, "--out", tmp_path / "a").exit_code == 0
    whole = reproduce(*arguments, "--out", tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert json.loads(whole.stdout) == json.loads(
        (tmp_path / "b" / "report.json").read_text("utf-8")
    )


def test_only_refuses_unknown_names_and_lists_the_known_ones(tmp_path: Path) -> None:
    result = reproduce("--only", "fig6a,fig10", "--out", tmp_path / "a")
    assert result.exit_code == 2
    assert "there is no 'fig10'" in result.output
    assert all(name in result.output for name in PARTS)
    assert not (tmp_path / "a").exists()
    assert reproduce("--only", "", "--out", tmp_path / "a").exit_code == 2


def test_redraw_refuses_other_files_and_options(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("{}\n")
    result = reproduce("--redraw", other, "--out", tmp_path / "a")
    assert result.exit_code == 1
    assert "is not a results file" in result.output
    assert not (tmp_path / "a").exists()
    for option in (["--fast"], ["--seed", "0"], ["--jobs", "2"], ["--only", "fig2"]):
        assert reproduce("--redraw", other, *option).exit_code == 2
    assert reproduce("--redraw", tmp_path / "missing.jsonl").exit_code == 2


def test_redraw_refuses_a_file_that_is_cut_off_or_incomplete(
    reproduced: tuple[Any, ...], tmp_path: Path
) -> None:
    lines = (reproduced[0] / "results.jsonl").read_text("utf-8").splitlines(keepends=True)
    cut, header = tmp_path / "cut.jsonl", json.loads(lines[0])
    for content, message in (
        (lines[:3], "is incomplete"),
        (lines[:1], "is incomplete"),
        ([*lines[:3], lines[3][:100]], "is not a results file"),
        ([json.dumps(header | {"format": "gradraker reproduction 0"}), "\n", *lines[1:]], "format"),
        ([json.dumps({"format": header["format"]}), "\n", *lines[1:]], "is not a results file"),
        ([lines[0], '{"simulation": "weights"}\n', *lines[2:]], "is not a results file"),
    ):
        cut.write_text("".join(content), "utf-8")
        result = reproduce("--redraw", cut, "--out", tmp_path / "a")
        assert result.exit_code == 1
        assert message in result.output
        assert "KeyError" not in result.output
    assert not (tmp_path / "a").exists()


def test_a_page_without_figures_names_those_not_drawn(tmp_path: Path) -> None:
    result = reproduce("--fast", "--only", "fig6c", "--out", tmp_path / "a")
    assert result.exit_code == 0
    for name in ("report.html", "report.md"):
        text = (tmp_path / "a" / name).read_text("utf-8")
        assert "was not drawn, since its data are not at hand" in text


def test_damaged_data_are_reported_as_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "cora"
    folder.mkdir(parents=True)
    for name in ("cora.cites", "cora.content"):
        (folder / name).write_text("x y\n")
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path / "data"))
    result = reproduce("--fast", "--only", "fig4,fig8", "--out", tmp_path / "a")
    assert result.exit_code == 0
    assert "fig8: data of Cora-Con cannot be read:" in " ".join(result.output.split())
    page = (tmp_path / "a" / "report.html").read_text("utf-8")
    assert "was not drawn, since its data cannot be read: " in page
    summary = json.loads((tmp_path / "a" / "report.json").read_text("utf-8"))
    (papers,) = [one for one in summary["findings"] if one["key"] == "papers"]
    assert papers["verdict"] == "cannot be checked"
    assert "cannot be read" in papers["reason"]


def test_a_missing_package_is_reported_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "jinja2"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = reproduce("--fast", "--only", "fig2", "--out", tmp_path / "a")
    assert result.exit_code == 1
    assert "pip install 'gradraker[report]'" in result.output
    assert not (tmp_path / "a").exists()
