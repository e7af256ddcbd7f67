"""The page of the last run: every table and number of ``history.jsonl``, and a picture of errors.

``make bench`` writes docs/benchmarks/last-run.md. Each benchmark is shown with its last run that
was not tiny, and with the machine, versions and date of that run. docs/images/errors.svg shows the
first table of docs/benchmarks/peers.md.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
PAGE = HOME / "docs" / "benchmarks" / "last-run.md"
PEERS = HOME / "docs" / "benchmarks" / "peers.md"
PICTURE = HOME / "docs" / "images" / "errors.svg"
HEAD = """# The last run

`make bench` writes this page from `benchmarks/history.jsonl`: the output of
the last run of each benchmark, with machine and versions. Other pages explain
the numbers.
"""
Line = Mapping[str, Any]


def find_last_runs(history: Sequence[Line]) -> dict[str, Line]:
    """The last line of each benchmark, by its name."""
    return {name: line for line in history for name in sorted(line["findings"])}


def split_table(text: str) -> list[list[str]]:
    """Cells of a table that ``report.table`` made; the second line shows where columns are."""
    lines = text.splitlines()
    columns = [found.span() for found in re.finditer("-+", lines[1])]
    return [[line[a:b].strip() for a, b in columns] for line in [lines[0], *lines[2:]]]


def is_table(text: str) -> bool:
    """Whether a text has columns, rather than being a sentence."""
    lines = text.splitlines()
    return len(lines) > 2 and re.fullmatch("[- ]+", lines[1]) is not None


def format_rows(rows: Sequence[Sequence[str]]) -> str:
    """A table of a page."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "| --- " * len(rows[0]) + "|", *lines[1:]])


def format_text(text: str) -> str:
    """Output of a benchmark, a table or a sentence, as a part of a page."""
    return (format_rows(split_table(text)) if is_table(text) else text) + "\n"


def format_machine(line: Line) -> str:
    """Machine and date of a run, in one sentence."""
    found = line["machine"]
    packages = ", ".join(
        f"{name} {found[name]}" for name in ("numpy", "scipy", "scikit-learn", "numba")
    )
    load = "" if line.get("load") is None else f", load {line['load']:g} when it ended"
    return (
        f"{line['date'][:10]}, commit {line['commit']}, size {line['size']}; {found['processor']}, "
        f"{found['cores']} cores{load}; Python {found['python']}, {packages}"
    )


def format_number(found: Mapping[str, Any]) -> str:
    """A number with its unit."""
    return f"{found['value']:.4g}{found['unit']}"


def format_aim(found: Mapping[str, Any]) -> str:
    """The aim of a number, "" if it has none."""
    if found["aim"] is None:
        return ""
    return f"{'at most ' if found['at_most'] else ''}{found['aim']:g}{found['unit']}"


def format_page(history: Sequence[Line]) -> str:
    """The page."""
    parts = [HEAD]
    for name, line in sorted(find_last_runs(history).items()):
        parts.append(f"## {name.removeprefix('bench_').replace('_', ' ').capitalize()}\n")
        parts.append(f"`benchmarks/{name}.py`. {format_machine(line)}.\n")
        parts += [format_text(text) for text in line.get("tables", {}).get(name, ())]
        rows = [
            [label, format_number(found), format_aim(found)]
            for label, found in line["findings"][name].items()
        ]
        parts.append(format_rows([["measured", "number", "aim"], *rows]) + "\n")
    return "\n".join(parts)


def read_errors(page: str) -> list[list[str]]:
    """Cells of the first table of errors on a page."""
    found = re.search(r"^\| GNMSE .*\n\|[-| ]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    if found is None:
        raise ValueError("the page must have a table whose first column is GNMSE")
    lines = [found[0].partition("\n")[0], *found[1].splitlines()]
    plain = [re.sub("[*`]", "", line).strip("|") for line in lines]
    return [[cell.strip() for cell in line.split("|")] for line in plain]


def draw_errors(rows: Sequence[Sequence[str]], picture: Path) -> None:
    """Draw errors and their spread, relative to those of the mean, one panel per data set."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import numpy as np

    matplotlib.rcParams["svg.hashsalt"] = "gradraker"
    (_, *names), *methods = rows
    numbers = np.array([[cell.split(" ± ") for cell in row[1:]] for row in methods], dtype=float)
    figure, axes = plt.subplots(
        1, len(names), figsize=(11, 1 + 0.32 * len(methods)), sharey=True, layout="constrained"
    )
    level = numbers[[row[0] for row in methods].index("the mean"), :, 0]
    places = np.arange(len(methods))
    for ax, name, means, spreads, error_of_mean in zip(
        np.atleast_1d(axes), names, numbers[:, :, 0].T, numbers[:, :, 1].T, level, strict=True
    ):
        ours = np.array([row[0].startswith("NodeRegressor") for row in methods])
        for chosen, colour in ((ours, "#2166ac"), (~ours, "0.55")):
            ax.barh(
                places[chosen],
                means[chosen] / error_of_mean,
                xerr=spreads[chosen] / error_of_mean,
                color=colour,
                error_kw={"elinewidth": 1, "ecolor": "0.25"},
            )
        ax.axvline(1.0, color="0.25", linewidth=0.8, linestyle=":")
        ax.set(title=name, xlim=(0, None), yticks=places, yticklabels=[row[0] for row in methods])
        ax.title.set_fontsize(10)
    np.atleast_1d(axes)[0].invert_yaxis()
    figure.supxlabel("GNMSE, relative to predicting the mean")
    figure.savefig(picture, metadata={"Date": None})
    plt.close(figure)


def write_page(history: Sequence[Line], page: Path = PAGE, picture: Path = PICTURE) -> None:
    """Write the page, and draw the errors of peers."""
    page.write_text(format_page(history), "utf-8")
    draw_errors(read_errors(PEERS.read_text("utf-8")), picture)
