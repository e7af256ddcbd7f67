"""Read back what a display has drawn."""

from typing import Any


def get_axes(drawn: Any) -> Any:
    return getattr(drawn, "ax_", drawn)


def lines(drawn: Any) -> dict[str, Any]:
    """Lines of a display or of axes, by label."""
    return {line.get_label(): line for line in get_axes(drawn).get_lines()}


def legend(drawn: Any) -> list[str]:
    """Texts of the legend of a display or of axes."""
    return [text.get_text() for text in get_axes(drawn).get_legend().get_texts()]
