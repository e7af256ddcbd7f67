"""Draw the picture of the README and the site's first page from its gallery script.

``python tools/draw_overview.py`` writes docs/images/overview.png, and overview-narrow.png for
phones, with its three parts below each other.
"""

import itertools
import runpy
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

HOME = Path(__file__).parents[1]
DPI = 110


def draw_overview(script: Path) -> Figure:
    """Run a gallery script and return its first figure."""
    with plt.ioff():
        runpy.run_path(str(script))
    return plt.figure(1)


def stack_parts(picture: Path, cuts: list[float]) -> Image.Image:
    """Cut a picture at fractions of its width, and put the parts below each other."""
    whole = Image.open(picture).convert("RGB")
    edges = [0, *(round(cut * whole.width) for cut in cuts), whole.width]
    parts = [
        whole.crop((left, 0, right, whole.height)) for left, right in itertools.pairwise(edges)
    ]
    width = max(part.width for part in parts)
    stacked = Image.new("RGB", (width, sum(part.height for part in parts)), "white")
    for number, part in enumerate(parts):
        stacked.paste(part, ((width - part.width) // 2, number * whole.height))
    return stacked


if __name__ == "__main__":
    folder = HOME / "docs" / "images"
    figure = draw_overview(HOME / "examples" / "plot_00_overview.py")
    figure.savefig(folder / "overview.png", dpi=DPI, metadata={"Software": None})
    boxes = [figure.axes[number].get_tightbbox() for number in (1, 2)]
    cuts = [(box.x0 - 4) / figure.bbox.width for box in boxes if box is not None]
    stack_parts(folder / "overview.png", cuts).save(folder / "overview-narrow.png")
    print(folder / "overview.png", folder / "overview-narrow.png")
