"""``--device``: where the node model computes, and what is printed about it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import gradraker
from command_line import invoke
from gradraker.features.engine import ENGINES
from oracles.strict_engine import StrictEngine, refuse_device


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    edges = "\n".join(f"{i},{(i + step) % 40}" for i in range(40) for step in (1, 2))
    values = "\n".join(f"{i},{i % 20 / 10},{i % 10}" for i in range(0, 40, 2))
    (tmp_path / "edges.csv").write_text(f"source,target\n{edges}\n")
    (tmp_path / "known.csv").write_text(f"node,value,other\n{values}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str) -> Any:
    inputs = ["--edges", "edges.csv", "--values", "known.csv"]
    return invoke(arguments[0], *inputs, *arguments[1:])


@pytest.mark.usefixtures("files")
def test_predict_on_a_gpu_says_so_and_predicts_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "cuda", StrictEngine)
    arguments = ("predict", "--value", "value", "--out")
    plain = _run(*arguments, "cpu.csv")
    assert "Computed on" not in plain.output
    found = _run(*arguments, "gpu.csv", "--device", "cuda", "--model", "model.gr")
    assert found.exit_code == 0, found.output
    assert "Computed on" in found.output
    assert "the GPU" in found.output
    cpu, gpu = (
        [float(row["prediction"]) for row in csv.DictReader(Path(name).read_text().splitlines())]
        for name in ("cpu.csv", "gpu.csv")
    )
    assert gpu == pytest.approx(cpu, abs=1e-8)
    facts = json.loads(_run("predict", "--value", "value", "--device", "auto", "--json").stdout)
    assert facts["choice"]["device"] == "cuda"


def test_update_moves_a_model_to_the_processor(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(ENGINES, "cuda", StrictEngine)
        _run("predict", "--value", "value", "--device", "cuda", "--model", "model.gr")
    monkeypatch.setitem(ENGINES, "cuda", refuse_device)
    (files / "new.csv").write_text("node,value\n1,0.1\n")
    arguments = ["update", "--model", "model.gr", "--values", "new.csv"]
    refused = invoke(*arguments)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: device='cuda' needs an NVIDIA GPU and CuPy, but")
    moved = invoke(*arguments, "--device", "cpu")
    assert moved.exit_code == 0, moved.output
    assert gradraker.load("model.gr").get_params()["device"] == "cpu"


@pytest.mark.usefixtures("files")
def test_without_a_gpu_the_error_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "cuda", refuse_device)
    refused = _run("predict", "--value", "value", "--device", "cuda")
    assert refused.exit_code == 1
    assert refused.stderr.strip().endswith("CuPy finds no GPU; device='cpu' does without")
    taken = _run("predict", "--value", "value", "--device", "auto")
    assert taken.exit_code == 0
    assert "warning: device='auto' takes the CPU: CuPy finds no GPU" in taken.stderr
    assert "engine.py" not in taken.stderr
    several = _run("predict", "--value", "value,other", "--device", "cuda", "--out", "-")
    assert several.exit_code == 1


@pytest.mark.usefixtures("files")
def test_skg_refuses_a_device() -> None:
    refused = _run("predict", "--method", "skg", "--value", "value", "--device", "cpu")
    assert refused.exit_code == 2
    assert "--device is an option of --method nodes" in refused.stderr
