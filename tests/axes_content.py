"""Read back what a display has drawn."""

from typing import Any


def lines(display: Any) -> dict[str, Any]:
    """Lines by label."""
    return {line.get_label(): line for line in display.ax_.get_lines()}


def legend(display: Any) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
