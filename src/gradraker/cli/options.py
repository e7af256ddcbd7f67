"""Options that several commands share."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
from click.core import ParameterSource

Command = TypeVar("Command", bound=Callable[..., Any])

# Kept here as words, since importing the learners would make every --help slow; a test
# compares them with the library's own.
SIGMA2_RULES = ("cv", "theory", "refined", "median")
KERNELS = ("gaussian", "laplacian", "cauchy")
HOP_WEIGHTS = ("count", "binary", "random_walk")
NUMBER_LANGUAGES = ("si", "en", "de", "fr", "ch")
LARGEST_SEED = 2**32 - 1


# click's types take a parameter since 8.2 only.
class NumberOrWord(click.ParamType):  # type: ignore[type-arg]
    """A positive number, or one of some words."""

    name = "number or word"

    def __init__(self, words: tuple[str, ...], *, below: float = math.inf) -> None:
        self.words = words
        self.below = below

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Return the word or the number; anything else is wrong use."""
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

    That the file is there is not asked here: a missing file is no wrong use of the command,
    and gets the same exit code as one that cannot be read.
    """

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is."""
        if not value or "\0" in value:
            self.fail(f"{value!r} is no name of a file", param, ctx)
        return str(value)


def check_learning_rate(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Check a learning rate, since a range of click lets NaN pass."""
    if not 0.0 < value < 1.0:
        raise click.BadParameter(f"{value!r} is not between 0 and 1", ctx, param)
    return value


def check_fraction(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Check a part of a whole, such as 0.9."""
    if value is not None and not 0.0 < value < 1.0:
        raise click.BadParameter(f"{value!r} is not between 0 and 1", ctx, param)
    return value


def _combine(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _make_edges_option(*, required: bool, more: str = "") -> Callable[[Command], Command]:
    return click.option(
        "--edges",
        type=FileName(),
        required=required,
        metavar="FILE",
        help="Edges: CSV, TSV, blanks, Parquet, Matrix Market or GraphML, also gzipped; "
        f"- is standard input.{more}",
    )


edges_option = _make_edges_option(required=True)
optional_edges_option = _make_edges_option(required=False)
new_edges_option = _make_edges_option(required=False, more=" They are added to the model's graph.")


def add_values_option(*, required: bool, text: str) -> Callable[[Command], Command]:
    """Add --values."""
    return click.option(
        "--values", type=FileName(), required=required, metavar="FILE", help=f"{text} - is stdin."
    )


attributes_option = click.option(
    "--attributes",
    type=FileName(),
    metavar="FILE",
    help="Attributes of nodes: a table with a header and one row per node, or one of nodes, "
    "attributes and values. - is stdin.",
)


class Column(click.ParamType):  # type: ignore[type-arg]
    """A column of a file, by its name or by its number from 1."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the column; the file says later whether it has it."""
        from gradraker.graph.adapters.columns import ColumnNumber

        if value == "":
            self.fail("'' is not a column", param, ctx)
        return ColumnNumber(value)


def _make_column_option(role: str, text: str) -> Callable[[Command], Command]:
    return click.option(
        f"--{role}", type=Column(), metavar="COLUMN", help=f"{text}, by its name or number from 1."
    )


# How files of edges and values are read, where they do not tell themselves.
edges_file_options = _combine(
    _make_column_option("source", "Column of the edges' sources"),
    _make_column_option("target", "Column of the edges' targets"),
    _make_column_option("weight", "Column of the edges' weights"),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of each file names its columns.",
    ),
)
file_options = _combine(
    edges_file_options,
    _make_column_option("node", "Column of nodes in the file of values"),
    _make_column_option("value", "Column of their values"),
    click.option(
        "--values-header/--no-values-header",
        default=None,
        help="The same for the file of values, if it differs.",
    ),
)

directed_option = click.option(
    "--directed/--undirected",
    default=None,
    help="Whether an edge leads one way only, or counts both ways however it is listed. Default: "
    "as the file says; lists of edges are directed.",
)


def make_direction_option(default: str) -> Callable[[Command], Command]:
    """Add --direction; ``default`` says which edges describe a node otherwise."""
    return click.option(
        "--direction",
        type=click.Choice(["out", "in", "both"]),
        help=f"Which edges describe a node; default {default}.",
    )


vector_options = _combine(
    click.option(
        "--self-loops",
        type=click.Choice(["keep", "add", "drop"]),
        default="keep",
        show_default=True,
        help="Edges from a node to itself.",
    ),
    click.option("--unweighted", is_flag=True, help="Count every edge as 1."),
    click.option(
        "--hops",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="K",
        help="Describe a node by its walks of K edges.",
    ),
    click.option(
        "--hop-weights",
        type=click.Choice(HOP_WEIGHTS),
        default="count",
        show_default=True,
        help="How these walks count: each by its weights, all as 1, or as steps at random.",
    ),
)

kernel_options = _combine(
    click.option(
        "--kernel",
        type=click.Choice(KERNELS),
        default="gaussian",
        show_default=True,
        help="Kernel that says how alike two nodes are.",
    ),
    click.option(
        "--frequencies",
        type=click.IntRange(min=1),
        default=200,
        show_default=True,
        metavar="D",
        help="Number of random features; more are more exact and slower.",
    ),
    click.option(
        "--learning-rate",
        type=float,
        callback=check_learning_rate,
        default=0.1,
        show_default=True,
        metavar="ETA",
        help="Size of a training step, between 0 and 1.",
    ),
    click.option(
        "--epochs",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        metavar="N",
        help="Passes over the known nodes.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0, max=LARGEST_SEED),
        default=0,
        show_default=True,
        metavar="N",
        help="Seed; the same seed gives the same output.",
    ),
)

# What belongs to SKG alone, by the name of the parameter.
SKG_OPTIONS = ("sigma2", "kernel", "frequencies", "learning_rate", "epochs", "hops", "hop_weights")


def refuse_number_options(options: Mapping[str, Any]) -> None:
    """Refuse options of numbers where values are classes."""
    for name in ("coverage", "lower", "upper", "transform", "statistic"):
        if options.get(name) is not None:
            raise click.UsageError(
                f"the values are classes, which have probabilities: leave --{name} out"
            )


def refuse_skg_options(ctx: click.Context) -> None:
    """Refuse options of SKG that were given to another method, instead of passing them over."""
    for name in SKG_OPTIONS:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is an option of SKG: add --method skg")


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of tables."
)

output_options = _combine(
    click.option(
        "--raw-names",
        is_flag=True,
        help="Write names to CSV as they are. Otherwise a name that a spreadsheet would take "
        "for a formula gets a leading apostrophe.",
    ),
    json_option,
)

unknown_nodes_option = click.option(
    "--unknown-nodes",
    type=click.Choice(["error", "ignore"]),
    default="error",
    show_default=True,
    help="What to do with values of nodes that have no edge.",
)


unknown_or_isolated_option = click.option(
    "--unknown-nodes",
    type=click.Choice(["error", "ignore", "isolated"]),
    default="error",
    show_default=True,
    help="What to do with values of nodes that have no edge: refuse them, leave them out, or "
    "take them for nodes without neighbours.",
)


def check_finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Check a number that must be finite."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value!r} is not a finite number", ctx, param)
    return value


# What predictions look like; a model keeps them for update.
prediction_options = _combine(
    click.option(
        "--coverage",
        type=float,
        callback=check_fraction,
        metavar="PART",
        help="Add intervals that hold this part of the true values, such as 0.9.",
    ),
    click.option(
        "--lower",
        type=float,
        callback=check_finite,
        metavar="NUMBER",
        help="Smallest value that is possible: predictions and intervals are clipped to it.",
    ),
    click.option(
        "--upper",
        type=float,
        callback=check_finite,
        metavar="NUMBER",
        help="Largest value that is possible.",
    ),
)

device_option = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda", "auto"]),
    help="Where the node model computes: the processor (default), an NVIDIA GPU, or a GPU where "
    "there is one.",
)

transform_options = _combine(
    click.option(
        "--sample-weight",
        metavar="COLUMN",
        help="Column of --values with weights: a value of weight 2 counts like two values.",
    ),
    click.option(
        "--transform",
        type=click.Choice(["auto", "none", "log", "power"]),
        help="Scale in which numbers are predicted; default auto, by errors of left-out nodes.",
    ),
    click.option(
        "--statistic",
        type=click.Choice(["mean", "median"]),
        help="What is predicted of the numbers that a node may have; default the mean.",
    ),
)

report_options = _combine(
    click.option(
        "--report",
        type=FileName(),
        metavar="FILE",
        help="A page to show, as one HTML file; - is stdout.",
    ),
    click.option("--title", metavar="TEXT", help="Title of the page."),
    click.option("--unit", metavar="TEXT", help="Unit of the values, such as °C."),
    click.option(
        "--number-language",
        type=click.Choice(NUMBER_LANGUAGES),
        default="si",
        show_default=True,
        help="How the page writes numbers: 1 234.5 (si), 1,234.5 (en), 1.234,5 (de), 1 234,5 "
        "(fr) or 1’234.5 (ch).",
    ),
    click.option(
        "--explain-nodes",
        type=FileName(),
        metavar="FILE",
        help="Names of nodes, one per line, that get a panel of their own on the page.",
    ),
)


def add_top_option(default: int) -> Callable[[Command], Command]:
    """Add --top."""
    return click.option(
        "--top",
        type=click.IntRange(min=0 if default == 0 else 1),
        default=default,
        show_default=True,
        metavar="K",
        help="How many of the nodes that count most to list with a prediction.",
    )
