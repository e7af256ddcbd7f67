"""Draw the picture of the README and the site's first page from its gallery script.

``python tools/draw_overview.py`` writes docs/images/overview.png.
"""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

HOME = Path(__file__).parents[1]


def draw_overview(script: Path, picture: Path) -> None:
    """Run a gallery script and keep its first figure."""
    with plt.ioff():
        runpy.run_path(str(script))
    plt.figure(1).savefig(picture, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    target = HOME / "docs" / "images" / "overview.png"
    draw_overview(HOME / "examples" / "plot_00_overview.py", target)
    print(target)
