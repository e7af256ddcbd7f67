"""Files of sweeps: exact, byte-stable, resumed after any interruption, refused for others."""

import json
import os
import pickle
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forked_process import start_python
from gradraker import load_temperature, sigma2_sweep
from gradraker.exceptions import SweepFileError
from gradraker.sweep import SweepResult, settings_sweep
from sweep_process import wait_for_lines

GRID = [0.5, 5.0, 50.0]
SMALL: dict[str, Any] = {"n_repeats": 5, "sigma2": GRID, "n_frequencies": 20}

# A sweep whose repeats take a while, in a process of its own.
SLOW = """
import sys, time
from gradraker import load_temperature, sigma2_sweep

def rest(stage, done, total):
    time.sleep(0.15 if done else 0.0)

sigma2_sweep(
    load_temperature(), n_repeats=5, sigma2=[0.5, 5.0, 50.0], n_frequencies=20,
    checkpoint=sys.argv[1], progress=rest,
)
"""


def sweep(**options: Any) -> SweepResult:
    return sigma2_sweep(load_temperature(), **SMALL | options)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of the file of a sweep that nothing has disturbed."""
    path = tmp_path_factory.mktemp("undisturbed") / "sweep.jsonl"
    sweep(checkpoint=path)
    return path.read_bytes()


def same(one: SweepResult, other: SweepResult) -> bool:
    """Whether two results are equal to the last bit; times are not part of a result."""
    fields = ("sigma2", "gnmse", "boundaries", "squared_distances")
    return one.settings == other.settings and all(
        np.array_equal(getattr(one, field), getattr(other, field), equal_nan=True)
        for field in fields
    )


# -- what is written -----------------------------------------------------------


def test_save_and_load_keep_every_bit(tmp_path: Path) -> None:
    found = sweep()
    loaded = SweepResult.load(found.save(tmp_path / "sweep.jsonl"))
    assert same(loaded, found)
    assert np.isnan(loaded.seconds).all()


@pytest.mark.process
@pytest.mark.workers
def test_saved_checkpointed_and_reloaded_files_are_equal(
    tmp_path: Path, undisturbed: bytes
) -> None:
    assert sweep().save(tmp_path / "saved.jsonl").read_bytes() == undisturbed
    sweep(checkpoint=tmp_path / "workers.jsonl", n_jobs=2)
    assert (tmp_path / "workers.jsonl").read_bytes() == undisturbed
    loaded = SweepResult.load(tmp_path / "saved.jsonl")
    assert loaded.save(tmp_path / "again.jsonl").read_bytes() == undisturbed


def test_file_is_json_lines_with_all_settings(undisturbed: bytes) -> None:
    header, *repeats = map(json.loads, undisturbed.splitlines())
    assert header["settings"] == sweep().settings
    assert [repeat["repeat"] for repeat in repeats] == [0, 1, 2, 3, 4]
    assert "seconds" not in repeats[0]


def test_missing_boundaries_are_null_in_the_file(tmp_path: Path) -> None:
    star = np.zeros((12, 12))
    star[:, 0] = 1.0
    found = sigma2_sweep(star, np.arange(12.0), n_repeats=2, sigma2=[1.0])
    path = found.save(tmp_path / "sweep.jsonl")
    assert b"NaN" not in path.read_bytes()
    assert np.isnan(SweepResult.load(path).boundaries).all()


# -- resumed -------------------------------------------------------------------


def test_finished_sweep_is_not_run_again(
    tmp_path: Path, undisturbed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(undisturbed)

    def run(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a repeat was run again")

    monkeypatch.setattr("gradraker.sweep.variance_sweep.run_repeat", run)
    assert same(sweep(checkpoint=path), SweepResult.load(path))
    assert path.read_bytes() == undisturbed


@pytest.mark.parametrize("part", np.linspace(0.0, 1.0, 23))
def test_file_that_was_cut_anywhere_is_completed(
    tmp_path: Path, undisturbed: bytes, part: Any
) -> None:
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(undisturbed[: round(part * len(undisturbed))])
    done = []
    sweep(checkpoint=path, progress=lambda stage, n, total: done.append(n))
    assert path.read_bytes() == undisturbed
    n_whole = max(0, undisturbed[: round(part * len(undisturbed))].count(b"\n") - 1)
    assert done == list(range(n_whole, 6))


def test_sweep_may_be_stopped_more_than_once(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "sweep.jsonl"
    n_header = undisturbed.index(b"\n") + 1
    path.write_bytes(undisturbed[: n_header + 40])  # killed within the first repeat

    def stop(stage: Any, done: Any, total: Any) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(checkpoint=path, progress=stop)
    assert undisturbed.startswith(path.read_bytes())
    sweep(checkpoint=path)
    assert path.read_bytes() == undisturbed


def test_each_repeat_is_in_the_file_when_it_is_done(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "sweep.jsonl"

    def look(stage: Any, done: Any, total: Any) -> None:
        assert path.read_bytes() == b"".join(undisturbed.splitlines(keepends=True)[: done + 1])

    sweep(checkpoint=path, progress=look)


def test_more_repeats_are_added_to_a_file(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "sweep.jsonl"
    sweep(checkpoint=path, n_repeats=2)
    result = sweep(checkpoint=path)
    assert path.read_bytes() == undisturbed
    assert np.isnan(result.seconds[:2]).all()
    assert np.all(result.seconds[2:] > 0.0)


def test_shuffled_and_repeated_lines_are_sorted(tmp_path: Path, undisturbed: bytes) -> None:
    header, *repeats = undisturbed.splitlines(keepends=True)
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(header + repeats[4] + repeats[1] + repeats[4])
    sweep(checkpoint=path)
    assert path.read_bytes() == undisturbed


@pytest.mark.process
@pytest.mark.parametrize(
    "end", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_killed_process_is_resumed_bit_for_bit(
    tmp_path: Path, undisturbed: bytes, end: Any
) -> None:
    path = tmp_path / "sweep.jsonl"
    process = start_python(SLOW, path, stderr=subprocess.DEVNULL)
    try:
        wait_for_lines(path, 3, process)
        os.kill(process.pid, end)
    finally:
        code = process.wait(timeout=60)
    assert code == -end
    left = path.read_bytes()
    assert undisturbed.startswith(left)
    assert len(left) < len(undisturbed)
    result = sweep(checkpoint=path)
    assert path.read_bytes() == undisturbed
    assert same(result, sweep())


def test_settings_sweep_is_resumed_from_a_folder(tmp_path: Path, undisturbed: bytes) -> None:
    folder = tmp_path / "new" / "folder"
    data = load_temperature()
    first = settings_sweep(data, setting="n_epochs", values=[1, 3], checkpoint=folder, **SMALL)
    assert sorted(path.name for path in folder.iterdir()) == [
        "n_epochs-1.jsonl",
        "n_epochs-3.jsonl",
    ]
    assert (folder / "n_epochs-3.jsonl").read_bytes() == undisturbed
    (folder / "n_epochs-3.jsonl").unlink()
    again = settings_sweep(data, setting="n_epochs", values=[1, 3], checkpoint=folder, **SMALL)
    assert all(map(same, first.results, again.results))


# -- refused -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"n_frequencies": 21}, "n_frequencies is 20 there and 21 now"),
        ({"random_state": 1}, "random_state is 0 there and 1 now"),
        (
            {"sigma2": [0.5, 5.0, 51.0]},
            r"sigma2 is \[0.5, 5.0, 50.0\] there and \[0.5, 5.0, 51.0\]",
        ),
        ({"n_repeats": 4}, "n_repeats is 5 there and 4 now"),
        (
            {"kernel": "cauchy", "n_epochs": 2},
            "n_epochs is 3 there and 2 now; kernel is 'gaussian'",
        ),
    ],
)
def test_other_settings_are_refused_by_name(
    tmp_path: Path, undisturbed: bytes, options: dict[Any, Any], difference: str
) -> None:
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(undisturbed)
    with pytest.raises(ValueError, match=f"sweep.jsonl' holds a sweep of other.*{difference}"):
        sweep(checkpoint=path, **options)
    assert path.read_bytes() == undisturbed


def test_other_data_and_versions_are_refused(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(undisturbed)
    with pytest.raises(ValueError, match=r"data\.sha256_values is"):
        sigma2_sweep(load_temperature("feb"), **SMALL, checkpoint=path)
    header, rest = undisturbed.split(b"\n", 1)
    other = json.loads(header)
    other["settings"]["versions"]["numpy"] = "1.0"
    path.write_bytes(json.dumps(other, ensure_ascii=False).encode() + b"\n" + rest)
    with pytest.raises(ValueError, match=r"versions\.numpy is '1\.0' there and"):
        sweep(checkpoint=path)


@pytest.mark.parametrize("content", [b"node,value\n", b"{}\n", b'{"format": 1', b"\x00" * 40])
def test_other_files_are_refused_and_not_changed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "values.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"values\.csv' is not a file of a sweep"):
        sweep(checkpoint=path)
    with pytest.raises(ValueError, match=r"values\.csv' is not a file of a sweep"):
        SweepResult.load(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "value"),
    [("sigma2", 3.0), ("sigma2", ["a"]), ("n_repeats", "5"), ("data", None), ("n_epochs", None)],
)
def test_file_with_damaged_settings_is_refused(
    tmp_path: Path, undisturbed: bytes, name: str, value: Any
) -> None:
    header, rest = undisturbed.split(b"\n", 1)
    damaged = json.loads(header)
    damaged["settings"][name] = value
    path = tmp_path / "sweep.jsonl"
    for content in (damaged, {"format": damaged["format"], "settings": {name: value}}):
        path.write_bytes(json.dumps(content).encode() + b"\n" + rest)
        with pytest.raises(ValueError, match=r"sweep\.jsonl' is not a file of a sweep"):
            SweepResult.load(path)


def test_damaged_line_in_the_middle_is_named(tmp_path: Path, undisturbed: bytes) -> None:
    lines = undisturbed.splitlines(keepends=True)
    lines[2] = lines[2][:50] + b"\n"
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(b"".join(lines))
    with pytest.raises(ValueError, match=r"sweep\.jsonl' is damaged: line 3"):
        sweep(checkpoint=path)


def test_load_refuses_an_unfinished_file(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(b"".join(undisturbed.splitlines(keepends=True)[:3]))
    with pytest.raises(ValueError, match="holds 2 of 5 repeats: run"):
        SweepResult.load(path)


def test_full_disk_is_named_with_the_file_and_costs_one_repeat(
    tmp_path: Path, undisturbed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sweep.jsonl"

    def full(descriptor: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("gradraker.sweep.sweep_result.os.fsync", full)
        with pytest.raises(OSError, match="No space left") as caught:
            sweep(checkpoint=path)
    assert caught.value.filename == str(path)
    sweep(checkpoint=path)
    assert path.read_bytes() == undisturbed


def test_folders_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"the folder .*missing. does not exist: .*sweep\.jsonl"
    ):
        sweep(checkpoint=tmp_path / "missing" / "sweep.jsonl")
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        sweep(checkpoint=tmp_path)


def test_errors_of_files_carry_the_file_and_the_problem(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "sweep.jsonl"
    path.write_bytes(undisturbed)
    with pytest.raises(SweepFileError) as caught:
        sweep(checkpoint=path, random_state=1)
    error = pickle.loads(pickle.dumps(caught.value))  # as a worker process would send it
    assert error.file == str(path)
    assert error.problem.startswith("holds a sweep of other settings: random_state is 0 there")
    assert str(error) == f"{str(path)!r} {error.problem}"
