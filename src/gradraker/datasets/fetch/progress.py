"""A progress bar for downloads that take longer than a moment, with the interface pooch wants."""

import sys
import time
from typing import TextIO


class ProgressBar:
    """One line on standard error, drawn from the second second on, at most ten times a second.

    Parameters
    ----------
    label : str
        What is being downloaded.
    stream : text file
        Where to draw; standard error unless given.
    """

    DELAY_SECONDS = 1.0
    PERIOD_SECONDS = 0.1
    WIDTH = 30

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self.total = 0  # set by pooch when the server says how much is to come
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._done = 0
        self._next_draw = time.monotonic() + self.DELAY_SECONDS
        self._drawn = False

    def update(self, n_bytes: int) -> None:
        """Count ``n_bytes`` more."""
        self._done += n_bytes
        if time.monotonic() >= self._next_draw:
            self._draw()

    def reset(self) -> None:
        """Start counting again, as pooch does before it reports the total."""
        self._done = 0

    def close(self) -> None:
        """End the line, if one was drawn."""
        if self._drawn:
            self._draw()
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self) -> None:
        self._drawn = True
        self._next_draw = time.monotonic() + self.PERIOD_SECONDS
        megabytes = f"{self._done / 1e6:.1f} MB"
        if self.total > 0:
            part = min(self._done / self.total, 1.0)
            bar = "#" * round(part * self.WIDTH)
            text = f"{self._label} [{bar:<{self.WIDTH}}] {part:4.0%} {megabytes}"
        else:
            text = f"{self._label} {megabytes}"
        self._stream.write(f"\r{text}")
        self._stream.flush()
