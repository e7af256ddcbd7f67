"""Options that several commands share, and how options are declared."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from gradraker._columns import ColumnNumber

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

# Copies of the library's words, since importing the learners would make every --help slow; a
# test compares them.
SIGMA2_RULES = ("cv", "theory", "refined", "median")
KERNELS = ("gaussian", "laplacian", "cauchy")
HOP_WEIGHTS = ("count", "binary", "random_walk")
NUMBER_LANGUAGES = ("si", "en", "de", "fr", "ch")
_MAX_SEED = 2**32 - 1


# -- types -----------------------------------------------------------------------


# click's types are generic only since 8.2.
class NumberOrWord(click.ParamType):  # type: ignore[type-arg]
    """A positive number, or one of some words."""

    name = "number or word"

    def __init__(self, words: tuple[str, ...], *, below: float = math.inf) -> None:
        self.words = words
        self.below = below

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Return the word or the number; anything else is wrong usage."""
        if value in self.words:
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if 0.0 < number < self.below:
            return number
        limit = "" if math.isinf(self.below) else f" below {self.below:g}"
        words = ", ".join(self.words)
        self.fail(f"{value!r} is neither a positive number{limit} nor one of {words}", param, ctx)


class FileName(click.ParamType):  # type: ignore[type-arg]
    """A file, or - for standard input or output.

    Whether the file exists is not checked here: a missing file is not wrong usage, and gets the
    same exit code as one that cannot be read.
    """

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is."""
        if not value or "\0" in value:
            self.fail(f"{value!r} is not the name of a file", param, ctx)
        return str(value)


class Column(click.ParamType):  # type: ignore[type-arg]
    """A column of a file, by its name or by its number from 1."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the column; whether the file has it is checked later."""
        if value == "":
            self.fail("'' is not a column", param, ctx)
        return ColumnNumber(value)


# -- declaring options by their names, help text and default ---------------------------------------


def add_file(name: str, text: str, **more: Any) -> Decorator:
    """Add an option that names a file."""
    return click.option(name, type=FileName(), help=text, **({"metavar": "FILE"} | more))


def add_count(
    *names: str, text: str, default: float | None = None, least: float = 1, metavar: str = "N"
) -> Decorator:
    """Add an option for a number of at least ``least``: an integer if ``least`` is one."""
    kind: Any = click.IntRange if isinstance(least, int) else click.FloatRange
    return click.option(
        *names, type=kind(least), default=default, show_default=True, metavar=metavar, help=text
    )


def add_number(
    name: str,
    text: str,
    *,
    default: float | None = None,
    between: tuple[float, float] | None = None,
    metavar: str = "NUMBER",
) -> Decorator:
    """Add an option that is a finite number, between two others if they are given."""

    # click's FloatRange accepts NaN.
    def check(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
        if value is not None and between is not None and not between[0] < value < between[1]:
            limits = f"{between[0]:g} and {between[1]:g}"
            raise click.BadParameter(f"{value!r} is not between {limits}", ctx, param)
        if value is not None and not math.isfinite(value):
            raise click.BadParameter(f"{value!r} is not a finite number", ctx, param)
        return value

    kind: Any = {"type": float, "callback": check, "metavar": metavar}
    return click.option(name, **kind, default=default, show_default=True, help=text)


def add_choice(
    name: str, words: tuple[str, ...], text: str, *, default: str | None = None
) -> Decorator:
    """Add an option that is one of some words."""
    return click.option(
        name, type=click.Choice(words), default=default, show_default=True, help=text
    )


def add_word_or_number(name: str, words: tuple[str, ...], text: str, **more: Any) -> Decorator:
    """Add an option that is a positive number or one of some words, the first by default."""
    return click.option(
        name,
        type=NumberOrWord(words, **more),
        default=words[0],
        show_default=True,
        metavar=f"[{'|'.join(words)}|NUMBER]",
        help=text,
    )


def _combine(*options: Decorator) -> Decorator:
    def add(command: Function) -> Function:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# -- files of graphs, values and attributes -----------------------------------------------------


def add_edges(*, required: bool = False, more: str = "") -> Decorator:
    """Add --edges."""
    kinds = "CSV, TSV, blanks, Parquet, Matrix Market or GraphML, also gzipped"
    return add_file("--edges", f"Edges: {kinds}; - is standard input.{more}", required=required)


def add_values(text: str, *, required: bool = False) -> Decorator:
    """Add --values."""
    return add_file("--values", f"{text} - is stdin.", required=required)


attributes_option = add_file(
    "--attributes",
    "Attributes of nodes: a table with a header and one row per node, or one of nodes, "
    "attributes and values. - is stdin.",
)


def _add_column(role: str, text: str) -> Decorator:
    about = f"{text}, by its name or number from 1."
    return click.option(f"--{role}", type=Column(), metavar="COLUMN", help=about)


# How files of edges and values are read, where that cannot be found from the files.
edges_file_options = _combine(
    _add_column("source", "Column of the edges' sources"),
    _add_column("target", "Column of the edges' targets"),
    _add_column("weight", "Column of the edges' weights"),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of each file names its columns.",
    ),
)
file_options = _combine(
    edges_file_options,
    _add_column("node", "Column of nodes in the file of values"),
    _add_column("value", "Column of their values"),
    click.option(
        "--values-header/--no-values-header",
        default=None,
        help="The same for the file of values, if it differs.",
    ),
)
directed_option = click.option(
    "--directed/--undirected",
    default=None,
    help="Whether edges lead one way only, or count both ways however they are listed. Default: "
    "from the file; lists of edges are directed.",
)
out_option = add_file("--out", "Predictions as CSV; - is stdout.")


def add_unknown_nodes(*, isolated: bool = True) -> Decorator:
    """Add --unknown-nodes; ``isolated`` is whether such nodes can be kept."""
    words = ("error", "ignore", "isolated") if isolated else ("error", "ignore")
    text = "What to do with values of nodes that have no edge"
    more = ": refuse them, ignore them, or add them as nodes without neighbours."
    return add_choice("--unknown-nodes", words, text + (more if isolated else "."), default="error")


# -- graphs and the paper's learner; parameters have the library's names ---------------------------


def add_direction(default: str) -> Decorator:
    """Add --direction; ``default`` is the default as the help names it."""
    text = f"Which edges describe a node; default {default}."
    return add_choice("--direction", ("out", "in", "both"), text)


vector_options = _combine(
    add_choice(
        "--self-loops", ("keep", "add", "drop"), "Edges from a node to itself.", default="keep"
    ),
    click.option("--unweighted", is_flag=True, help="Count every edge as 1."),
    add_count("--hops", default=1, metavar="K", text="Describe a node by its walks of K edges."),
    add_choice(
        "--hop-weights",
        HOP_WEIGHTS,
        "How walks count: by their weights, as 1 each, or by their probability at random steps.",
        default="count",
    ),
)


def add_seed(text: str) -> Decorator:
    """Add --seed."""
    return click.option(
        "--seed",
        "random_state",
        type=click.IntRange(min=0, max=_MAX_SEED),
        default=0,
        show_default=True,
        metavar="N",
        help=text,
    )


sigma2_option = add_word_or_number(
    "--sigma2", SIGMA2_RULES, "Variance σ² of the kernel, or the rule that chooses it."
)
kernel_options = _combine(
    add_choice(
        "--kernel", KERNELS, "Kernel that measures how alike two nodes are.", default="gaussian"
    ),
    add_count(
        "--frequencies",
        "n_frequencies",
        default=200,
        metavar="D",
        text="Number of random features; more are more accurate but slower.",
    ),
    add_number(
        "--learning-rate",
        "Size of a training step, between 0 and 1.",
        between=(0.0, 1.0),
        default=0.1,
        metavar="ETA",
    ),
    add_count("--epochs", "n_epochs", default=3, text="Passes over the known nodes."),
    add_seed("Seed; the same seed gives the same output."),
)
# For commands whose rows are adjacency vectors.
graph_options = _combine(
    file_options, directed_option, add_direction("out"), vector_options, kernel_options
)
jobs_option = add_count(
    "--jobs", "n_jobs", text="Worker processes. Default: one process with threads on all cores."
)


def refuse_number_options(options: Mapping[str, Any]) -> None:
    """Refuse options of numbers where values are classes."""
    for name in ("coverage", "lower", "upper", "transform", "statistic"):
        if options.get(name) is not None:
            raise click.UsageError(
                f"the values are classes, which have probabilities: leave --{name} out"
            )


# -- outputs -------------------------------------------------------------------------------------

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of tables."
)
output_options = _combine(
    click.option(
        "--raw-names",
        is_flag=True,
        help="Write names to CSV as they are. Otherwise a name that a spreadsheet would run "
        "as a formula gets a leading apostrophe.",
    ),
    json_option,
)

# Intervals and bounds of predictions; a model keeps them for update.
prediction_options = _combine(
    add_number(
        "--coverage",
        "Add intervals that should hold this share of the true values, such as 0.9.",
        between=(0.0, 1.0),
        metavar="PART",
    ),
    add_number("--lower", "Smallest possible value: predictions and intervals are clipped to it."),
    add_number("--upper", "Largest possible value."),
)
device_option = add_choice(
    "--device",
    ("cpu", "cuda", "auto"),
    "Where the node model computes: the processor (default), an NVIDIA GPU, or a GPU if there "
    "is one.",
)
transform_options = _combine(
    click.option(
        "--sample-weight",
        metavar="COLUMN",
        help="Column of --values with weights: a value of weight 2 counts like two values.",
    ),
    add_choice(
        "--transform",
        ("auto", "none", "log", "power"),
        "Scale in which numbers are predicted; default auto, chosen by errors of left-out nodes.",
    ),
    add_choice(
        "--statistic",
        ("mean", "median"),
        "Which statistic of a node's possible values is predicted; default the mean.",
    ),
)
report_options = _combine(
    add_file("--report", "Report as one HTML file; - is stdout."),
    click.option("--title", metavar="TEXT", help="Title of the page."),
    click.option("--unit", metavar="TEXT", help="Unit of the values, such as °C."),
    add_choice(
        "--number-language",
        NUMBER_LANGUAGES,
        "How the page writes numbers: 1 234.5 (si), 1,234.5 (en), 1.234,5 (de), 1 234,5 "
        "(fr) or 1’234.5 (ch).",
        default="si",
    ),
    add_file(
        "--explain-nodes", "File of node names, one per line, that always get a panel on the page."
    ),
)


def add_top(default: int) -> Decorator:
    """Add --top."""
    text = "Number of known nodes to list with a prediction, those that count most."
    return add_count("--top", default=default, least=min(1, default), metavar="K", text=text)


def add_folder(default: str, text: str) -> Decorator:
    """Add --out, a folder."""
    kind = click.Path(file_okay=False, path_type=Path)
    return click.option(
        "--out",
        "folder",
        type=kind,
        default=Path(default),
        show_default=True,
        metavar="DIR",
        help=text,
    )
