"""Read back what a display has drawn."""


def lines(display):
    """Lines by label."""
    return {line.get_label(): line for line in display.ax_.get_lines()}


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
