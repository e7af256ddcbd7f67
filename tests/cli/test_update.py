"""Two updates of one model at once: both count."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import gradraker
from gradraker.cli import main

PROGRAM = "from gradraker.cli import main; main(prog_name='gradraker')"


@pytest.fixture
def files(tmp_path: Any, monkeypatch: Any) -> Any:
    monkeypatch.chdir(tmp_path)
    data = gradraker.load_temperature()
    runner = CliRunner()
    fetched = runner.invoke(main, ["data", "fetch", "temperature", "--edges", "e.csv"])
    assert fetched.exit_code == 0, fetched.output
    rows = [f'"{n}",{v}\n' for n, v in zip(data.node_names, data.values, strict=True)]
    Path("known.csv").write_text("node,value\n" + "".join(rows[:40]), "utf-8")
    for i, name in enumerate("abcd"):
        Path(f"{name}.csv").write_text(
            "node,value\n" + "".join(rows[40 + 5 * i : 45 + 5 * i]), "utf-8"
        )
    done = runner.invoke(
        main, ["predict", "--edges", "e.csv", "--values", "known.csv", "--model", "m.gr"]
    )
    assert done.exit_code == 0, done.output
    return tmp_path


def test_no_update_is_lost(files: Any) -> None:
    command = [sys.executable, "-c", PROGRAM, "update", "--model", "m.gr", "--edges", "e.csv"]
    updates = [
        subprocess.Popen([*command, "--values", f"{name}.csv"], stdout=subprocess.DEVNULL)
        for name in "abcd"
    ]
    assert [update.wait(120) for update in updates] == [0] * 4
    assert len(gradraker.load("m.gr").known_nodes_) == 60
    hidden = [path.name for path in files.iterdir() if path.name.startswith(".")]
    assert hidden == []


def test_full_disk_leaves_model_and_table_as_they_were(files: Any, monkeypatch: Any) -> None:
    Path("out.csv").write_text("old")
    model = Path("m.gr").read_bytes()

    def write(file: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gradraker.cli.page.make_csv", lambda rows: write)
    arguments = ["update", "--model", "m.gr", "--values", "a.csv", "--out", "out.csv"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "out.csv: No space left on device" in result.output
    assert Path("m.gr").read_bytes() == model
    assert Path("out.csv").read_text() == "old"
