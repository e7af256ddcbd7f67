"""Run the torture tests: kills, concurrent processes, damaged files, odd places, environments.

Prints a table of attempts and failures; exits with 1 if anything failed. ``--write`` puts the table
into docs/project/reliability.md.
"""

import argparse
import platform
import sys
import time
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
sys.path.insert(0, str(HOME / "tests"))
# Marks around the table in the page.
BEGIN, END = "<!-- battery -->", "<!-- end of battery -->"
# Parts, and the share of the time that each gets.
SHARES = {
    "kills of commands": 0.24,
    "kills of library calls": 0.08,
    "processes at once": 0.12,
    "damaged and forged model files": 0.18,
    "damaged graph files": 0.14,
    "full disks and odd places": 0.10,
    "environments": 0.14,
}


def load_parts() -> Any:
    """Return the parts by name."""
    from torture.environments import run_in_environments
    from torture.graph_files import read_damaged_graphs
    from torture.kills import kill_commands
    from torture.model_files import read_damaged_models
    from torture.places import write_to_odd_places
    from torture.saves import kill_saves
    from torture.together import change_together

    warm_up()
    functions = (
        kill_commands,
        kill_saves,
        change_together,
        read_damaged_models,
        read_damaged_graphs,
        write_to_odd_places,
        run_in_environments,
    )
    return dict(zip(SHARES, functions, strict=True))


def warm_up() -> None:
    """Import everything and load the compiled loops, so that child processes need not.

    polars is imported but not used: its threads would be missing in the children.
    """
    import io

    import polars  # noqa: F401

    import gradraker.cli
    import gradraker.io.readers  # noqa: F401
    from gradraker import NodeRegressor, SKGNodeRegressor, load_temperature, predict_nodes
    from gradraker.plotting.figure import make_axes
    from gradraker.report import render_predictions, render_sweep, summarize_predictions
    from gradraker.sweep import sigma2_sweep
    from gradraker.workflow import update_nodes

    data = load_temperature()
    known = dict(zip(data.node_names[:50], data.values[:50].tolist(), strict=True))
    for model in (NodeRegressor(), SKGNodeRegressor(sigma2=1.0)):
        result = predict_nodes(data, known, model=model)
        render_predictions(summarize_predictions(result, n_contributors=1))
        update_nodes(result.model, None, {data.node_names[60]: 1.0})
        result.model.write_to(io.BytesIO())
    render_sweep(sigma2_sweep(data, n_repeats=2, sigma2=[1.0, 2.0]))
    make_axes()


def main() -> int:
    """Run the parts and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=45.0, help="for all parts together")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other attempts")
    parser.add_argument("--part", choices=SHARES, action="append", help="only this one")
    parser.add_argument("--most", type=int, default=10**9, help="limit of attempts per part")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    from torture.attempts import Budget

    end = time.monotonic() + options.seconds
    parts = load_parts()
    chosen = options.part or list(parts)
    rows, failures = [], []
    for at, name in enumerate(chosen):
        start = time.monotonic()
        # A part that took longer than its share leaves less time for the others.
        share = SHARES[name] / sum(SHARES[other] for other in chosen[at:])
        seconds = max(0.0, end - start) * share
        counts = parts[name](Budget(seconds, options.seed, options.most))
        took = time.monotonic() - start
        rows.append((name, counts.tried, len(counts.failures), f"{took:.0f}", counts.remark))
        print(
            f"{name}: {counts.tried} tried, {len(counts.failures)} failed, {took:.0f} s", flush=True
        )
        for failure in counts.failures[:20]:
            print(f"FAILED {name}: {failure}", file=sys.stderr, flush=True)
        failures += counts.failures
    table = format_table(rows, options.seed)
    print(f"\n{table}")
    if options.write:
        write_table(table)
    return 1 if failures else 0


def format_table(rows: Any, seed: int) -> str:
    """Return the table in Markdown."""
    lines = ["| part | tried | failed | seconds | |", "| --- | ---: | ---: | ---: | --- |"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return "\n".join([*lines, "", f"Seed {seed}, {machine}, {time.strftime('%Y-%m-%d')}."])


def write_table(table: str) -> None:
    """Replace the table of the page."""
    page = HOME / "docs" / "project" / "reliability.md"
    text = page.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
