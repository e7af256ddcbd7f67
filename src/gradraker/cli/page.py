"""The page of a job: its options, and the text that goes to a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradraker.workflow import NodePredictions


@dataclass(frozen=True)
class PageOptions:
    """What a page is called, how it writes numbers, and which nodes it explains."""

    title: str | None = None
    unit: str | None = None
    number_language: str = "si"
    explain_nodes: str | None = None

    def to_notes(self) -> dict[str, Any]:
        """Return what a model keeps for the page of an update."""
        return {"title": self.title, "unit": self.unit}


def take_page_options(options: dict[str, Any]) -> PageOptions:
    """Take the options of a page out of those of a command."""
    names = ("title", "unit", "number_language", "explain_nodes")
    return PageOptions(**{name: options.pop(name) for name in names})


def make_page(
    result: "NodePredictions",
    summary: dict[str, Any],
    options: PageOptions,
    *,
    model_file: str | None,
) -> str:
    """Return the page of predictions."""
    from gradraker.report import build_explorer, render_predictions

    names = [] if options.explain_nodes is None else read_names(options.explain_nodes)
    explorer = build_explorer(result, explain_nodes=names, model_file=model_file)
    return render_predictions(
        summary,
        explorer=explorer,
        title=options.title,
        unit=options.unit,
        number_language=options.number_language,
    )


def read_names(path: str) -> list[str]:
    """Read names of nodes, one per line."""
    text = Path(path).read_text(encoding="utf-8-sig")
    return [line for line in text.splitlines() if line.strip()]
