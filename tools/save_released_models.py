"""Save one small model of each kind, as files that later versions must be able to read.

``python tools/save_released_models.py`` writes them to tests/models/persistence/released/VERSION.
"""

from pathlib import Path
from typing import Any

import gradraker

HOME = Path(__file__).parents[1]
RELEASED = HOME / "tests" / "models" / "persistence" / "released"


def save_models(folder: Path) -> list[Path]:
    """Save models of rows and of graphs, trained on a handful of nodes; return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "x"), ("e", "y")]
    numbers = {"a": 1.0, "b": 1.5, "c": 4.0}
    rows, values = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [1.0, 2.0, 4.0]
    models: dict[str, Any] = {
        "skg.gr": gradraker.SKGRegressor(sigma2=1.0, random_state=0).fit(rows, values),
        "bank.gr": gradraker.GradrakerRegressor(kernels=[0.5, 2.0], random_state=0).fit(
            rows, values
        ),
        "skg_nodes.gr": gradraker.SKGNodeRegressor(sigma2=1.0, random_state=0).fit(edges, numbers),
        "nodes.gr": gradraker.NodeRegressor().fit(edges, numbers),
        "classes.gr": gradraker.NodeClassifier().fit(edges, {"a": "red", "b": "red", "c": "blue"}),
    }
    return [Path(model.save(folder / name)) for name, model in models.items()]


if __name__ == "__main__":
    for path in save_models(RELEASED / gradraker.__version__):
        print(path)
