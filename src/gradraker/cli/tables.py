"""Tables for people."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gradraker.cli.output import make_printable

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN = 5


def make_facts_table(title: str, facts: Iterable[tuple[str, str]]) -> "Table":
    """Two columns: what, and how much."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for what, text in facts:
        table.add_row(what, text)
    return table


def make_rows_table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]
) -> "Table":
    """Columns with headings; numbers are short and to the right."""
    from rich import box
    from rich.table import Table

    # As wide as the title at least, or rich would fold it.
    width = len(title)
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, min_width=width)
    listed = [list(row) for row in rows]
    for i, heading in enumerate(headings):
        numbers = all(isinstance(row[i], float | int) for row in listed)
        table.add_column(heading, justify="right" if numbers else "left", overflow="fold")
    for row in listed:
        table.add_row(
            *(
                shorten(cell) if isinstance(cell, float | int) else make_printable(cell)
                for cell in row
            )
        )
    return table


def shorten(number: float) -> str:
    """A number for a table.

    Examples
    --------
    >>> shorten(1234567), shorten(3.14159), shorten(-0.00001)
    ('1 234 567', '3.142', '-1e-05')
    """
    return f"{number:,}".replace(",", " ") if isinstance(number, int) else f"{number:.4g}"


def format_graph(graph: dict[str, Any]) -> str:
    """The size of a graph: an edge without direction counts once, however it was listed."""
    kind = "edges" if graph["directed"] else "undirected edges"
    return f"{shorten(graph['nodes'])} nodes, {shorten(graph['edges'])} {kind}"


def list_prediction_facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The main facts of a summary of predictions."""
    graph, values = summary["graph"], summary["values"]
    facts = [
        ("Graph", format_graph(graph)),
        ("Values", f"{shorten(values['known'])} known, {shorten(values['unknown'])} to predict"),
    ]
    if "classes" in values:
        names = [make_printable(one["class"]) for one in values["classes"]]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        facts.append(("Classes", f"{shorten(len(names))}: {', '.join(names[:6])}{more}"))
    if summary["coverage"] is not None:
        facts.append(("Intervals", f"hold {100 * summary['coverage']:g} % of the true values"))
    if summary["method"] == "nodes":
        facts += _list_choice_facts(summary["choice"])
        facts += _list_attribute_facts(summary["attributes"])
        return facts + list_held_out_facts(summary["held_out"])
    sigma2 = summary["sigma2"]
    facts.append(
        ("σ² of the kernel", f"{shorten(sigma2['value'])} ({describe_rule(sigma2['rule'])})")
    )
    if sigma2["range"] is not None:
        facts.append(("Range of σ²", f"{sigma2['range']}: {sigma2['meaning']}"))
    return (
        facts + list_held_out_facts(summary["held_out"]) + _list_transfer_facts(summary["transfer"])
    )


def _list_choice_facts(choice: dict[str, Any]) -> list[tuple[str, str]]:
    """What nodes are compared by, and how that was chosen."""
    if not choice["kernel"]:
        return [("Compared by", "nothing: every node gets about the mean of the known values")]
    text = ", ".join(dict.fromkeys(term["block"] for term in choice["kernel"]))
    if choice["n_tried"]:
        text += f"; the best of {choice['n_tried']} candidates"
    facts = [("Compared by", text)]
    if choice.get("device") == "cuda":
        facts.append(("Computed on", "the GPU"))
    if choice.get("transform", "none") != "none":
        facts.append(("Weights add up in", choice["formula"]))
    if choice.get("statistic") == "median":
        facts.append(("Predicted", "medians"))
    return facts


def _list_attribute_facts(told: dict[str, Any] | None) -> list[tuple[str, str]]:
    """What attributes were understood as, and which count most in linear terms."""
    if told is None:
        return []
    kinds = ", ".join(f"{kind}: {shorten(n)}" for kind, n in told["kinds"].items())
    facts = [("Attributes", f"{shorten(told['n_columns'])} numbers per node ({kinds})")]
    if told["coefficients"]:
        largest = sorted(told["coefficients"], key=lambda one: -abs(one["coefficient"]))[:_SHOWN]
        facts.append(("Count most", ", ".join(_format_coefficient(one) for one in largest)))
    return facts


def _format_coefficient(one: dict[str, Any]) -> str:
    """Say which attribute counts how much, whose it is, and for which class or target."""
    whose = "" if one["whose"] == "of the node" else f" {one['whose']}"
    target = f" for {make_printable(one['target'])}" if "target" in one else ""
    return f"{make_printable(one['attribute'])}{whose} ({one['coefficient']:+.3g}{target})"


def describe_rule(rule: str) -> str:
    """Say where σ² comes from."""
    return "as given" if rule == "given" else f"chosen by rule '{rule}'"


def list_held_out_facts(held_out: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Errors beside those of the mean, or of the most common class."""
    if held_out is None:
        return [("Held out", "none: too few known nodes for an estimate of the error")]
    if "accuracy" in held_out:
        right, common = shorten(held_out["accuracy"]), shorten(held_out["accuracy_of_most_common"])
        return [
            ("Left out", f"{shorten(held_out['nodes'])} known nodes, one at a time"),
            ("Accuracy", f"{right} ({common} by the most common class)"),
            ("Calibration error", shorten(held_out["calibration_error"])),
        ]
    facts = [
        (
            "Held out",
            f"{shorten(held_out['nodes'])} of the known nodes, "
            f"{'one at a time, ' if held_out['one_at_a_time'] else ''}for the errors below",
        ),
        ("RMSE", f"{shorten(held_out['rmse'])} ({shorten(held_out['rmse_of_mean'])} by the mean)"),
    ]
    if held_out["gnmse"] is not None:
        gnmse, of_mean = shorten(held_out["gnmse"]), shorten(held_out["gnmse_of_mean"])
        facts.append(("GNMSE", f"{gnmse} ({of_mean} by the mean), values scaled to [0, 1]"))
    return facts


def _list_transfer_facts(transfer: dict[str, Any] | None) -> list[tuple[str, str]]:
    if transfer is None:
        return [("Similarity transfer", "not measured: too few known nodes, or equal values")]
    return [("Similarity transfer", transfer["verdict"])]


def make_predictions_table(predictions: list[dict[str, Any]]) -> "list[Table]":
    """The first few predictions; no table if there are none."""
    if not predictions:
        return []
    first = predictions[:_SHOWN]
    headings, rows = ["Node", "Prediction"], [[one["node"], one["prediction"]] for one in first]
    if "probability" in first[0]:
        headings = ["Node", "Class", "Probability", "Runners-up"]
        for row, one in zip(rows, first, strict=True):
            others = (f"{o['class']} {shorten(o['probability'])}" for o in one["runners_up"])
            row += [one["probability"], ", ".join(others)]
    if "lower" in first[0]:
        headings += ["From", "To"]
        for row, one in zip(rows, first, strict=True):
            row += ["−∞" if one["lower"] is None else one["lower"]]
            row += ["∞" if one["upper"] is None else one["upper"]]
    if "contributors" in first[0]:
        headings.append("Counts most")
        for row, one in zip(rows, first, strict=True):
            row.append(one["contributors"][0]["node"] if one["contributors"] else "")
    title = f"Predictions, {len(first)} of {shorten(len(predictions))}"
    return [make_rows_table(title, headings, rows)]
