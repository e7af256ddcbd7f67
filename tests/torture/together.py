"""Several processes that change one model file at the same time."""

import os
import random
import shutil
from functools import partial
from pathlib import Path

from torture.attempts import (
    Budget,
    Counts,
    list_hidden,
    make_folder,
    run_child,
    run_command,
    start_child,
    wait_for_child,
)
from torture.commands import write_inputs


def change_together(budget: Budget) -> Counts:
    """Updates by the command line, and saves that refuse a changed file and try again."""
    counts = Counts()
    steps = 0
    with make_folder() as folder:
        start = folder / "start"
        start.mkdir()
        write_inputs(start)
        for number in budget.numbers():
            rng = random.Random(f"{budget.seed} {number}")
            if number % 3 == 0:
                counts.add(_update_together(start, rng.choice([2, 2, 3, 4])))
            else:
                n_processes, n_steps = rng.choice([2, 3, 4]), rng.choice([5, 10])
                counts.add(_learn_together(n_processes, n_steps))
                steps += n_processes * n_steps
    counts.remark = f"{steps} steps learned and saved one by one"
    return counts


def _update_together(start: Path, n_processes: int) -> str | None:
    with make_folder() as folder:
        work = folder / "work"
        shutil.copytree(start, work)
        for k in range(n_processes):
            rows = [f"n{12 + 3 * k + i},{k + i}\n" for i in range(3)]
            (work / f"values{k}.csv").write_text("node,value\n" + "".join(rows))

        def update(k: int) -> None:
            os.chdir(work)
            run_command("update", "--model", "old.gr", "--values", f"values{k}.csv")

        children = [start_child(partial(update, k)) for k in range(n_processes)]
        ended = [wait_for_child(*child) for child in children]
        if any(one.code for one in ended):
            return f"{n_processes} updates at once ended with {[(e.code, e.text) for e in ended]}"
        wanted = 12 + 3 * n_processes

        def check() -> None:
            from gradraker import load

            n = len(load(work / "old.gr").known_nodes_)
            assert n == wanted, f"{n} values of {wanted}"

        checked = run_child(check)
        if checked.code:
            return f"{n_processes} updates at once: {checked.text}"
        return f"{list_hidden(work)} are left" if list_hidden(work) else None


def _learn_together(n_processes: int, n_steps: int) -> str | None:
    with make_folder() as folder:
        path = folder / "m.skg"

        def make() -> None:
            from gradraker import SKGRegressor

            model = SKGRegressor(sigma2=1.0, n_frequencies=5, random_state=0)
            model.learn_one(["a"], 1.0)
            model.save(path)

        def learn() -> None:
            from gradraker import load
            from gradraker.exceptions import ModelFileChangedError

            done = 0
            while done < n_steps:
                model = load(path)
                model.learn_one(["a", str(done)], 1.0)
                try:
                    model.save(path, only_if_unchanged=True)
                except ModelFileChangedError:
                    continue
                done += 1

        def check() -> None:
            from gradraker import load

            n = load(path).n_seen_
            assert n == 1 + n_processes * n_steps, f"{n} steps"

        made = run_child(make)
        if made.code:
            return made.text
        children = [start_child(learn) for _ in range(n_processes)]
        ended = [wait_for_child(*child) for child in children]
        if any(one.code for one in ended):
            return f"{n_processes} processes: {[(one.code, one.text) for one in ended]}"
        checked = run_child(check)
        return f"{n_processes} processes: {checked.text}" if checked.code else None
