"""Calls of the library that write are killed at every point, many times: commands take longer."""

import random
from collections.abc import Callable
from pathlib import Path

from torture.attempts import Budget, Counts, list_hidden, make_folder, run_child
from torture.kills import kill_at

# A call that writes files in a folder: what was there before it, and the call itself.
Call = tuple[tuple[str, ...], Callable[[Path], object]]


def kill_saves(budget: Budget) -> Counts:
    """Kill a call, look at the files, call it again."""
    counts = Counts()
    calls = _make_calls()
    points = {}
    expected = {}
    for name, call in calls.items():
        points[name], expected[name] = _run_watched(call)
    todo = [(name, at) for name, n in points.items() for at in range(1, n + 1)]
    random.Random(budget.seed).shuffle(todo)
    rounds = 0
    for number in budget.numbers():
        name, at = todo[number % len(todo)]
        rounds = number // len(todo)
        old = b"old" if number % 2 else None
        counts.add(_try_kill(name, calls[name], at, expected[name], old))
    every = ", ".join(f"{name} {n}" for name, n in points.items())
    counts.remark = f"points: {every}; each tried {rounds} times or more"
    return counts


def _make_calls() -> dict[str, Call]:
    from gradraker import NodeRegressor, SKGRegressor
    from gradraker._files import Output, write_files

    skg = SKGRegressor(sigma2=1.0, n_frequencies=5, random_state=0)
    for i in range(20):
        skg.learn_one([f"n{i}", "a"], float(i))
    nodes = NodeRegressor().fit([("a", "b"), ("b", "c"), ("c", "d")], {"a": 1.0, "d": 2.0})

    def write_three(folder: Path) -> None:
        write_files(
            [
                Output(folder / "a", skg.write_to),
                Output(folder / "b", lambda file: file.write(b"x" * 100_000)),
                Output(folder / "c", nodes.write_to),
            ]
        )

    return {
        "save of SKG": (("a",), lambda folder: skg.save(folder / "a")),
        "save of a node model": (("a",), lambda folder: nodes.save(folder / "a")),
        "three files": (("a", "b", "c"), write_three),
    }


def _run_watched(call: Call) -> tuple[int, dict[str, bytes]]:
    outputs, write = call
    with make_folder() as folder:
        work, counted = folder / "work", folder / "counted"
        work.mkdir()

        def run() -> None:
            kill_at(0, work, counted)
            write(work)

        ended = run_child(run)
        if ended.code:
            raise RuntimeError(f"a call ended with {ended.code}: {ended.text}")
        return int(counted.read_text()), {name: (work / name).read_bytes() for name in outputs}


def _try_kill(
    name: str, call: Call, at: int, expected: dict[str, bytes], old: bytes | None
) -> str | None:
    outputs, write = call
    where = f"{name} killed at point {at}"
    with make_folder() as folder:
        if old is not None:
            for output in outputs:
                (folder / output).write_bytes(old)

        def run() -> None:
            kill_at(at, folder)
            write(folder)

        ended = run_child(run)
        if ended.code not in (-9, 0):
            return f"{where}: it ended with {ended.code}: {ended.text}"
        for output in outputs:
            path = folder / output
            if (path.read_bytes() if path.exists() else None) not in (old, expected[output]):
                return f"{where}: {output} is neither the old file nor the new one"
        again = run_child(lambda: write(folder))
        if again.code:
            return f"{where}: the next call failed: {again.text}"
        if {output: (folder / output).read_bytes() for output in outputs} != expected:
            return f"{where}: the next call wrote something else"
        return f"{where}: {list_hidden(folder)} are left" if list_hidden(folder) else None
