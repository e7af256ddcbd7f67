"""Model files of released versions are read; tools/save_released_models.py writes them."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import gradraker
from gradraker.models import NodeModel

HOME = Path(__file__).parents[2]
TOOL = runpy.run_path(str(HOME / "tools" / "save_released_models.py"))
RELEASED = sorted(Path(__file__).parent.glob("persistence/released/*/*.gr"))


def check_file(path: Path) -> None:
    """Load a model and predict with it."""
    model = gradraker.load(path)
    if not isinstance(model, NodeModel):
        assert np.isfinite(model.predict([[1.0, 1.0]])).all()
    elif path.stem == "classes":
        assert set(model.predict(["e"])) <= {"red", "blue"}
    else:
        assert np.isfinite(model.predict(["e"])).all()


def test_models_of_this_version_are_written_and_read(tmp_path: Path) -> None:
    paths = TOOL["save_models"](tmp_path)
    assert {path.stem for path in paths} == {"skg", "bank", "skg_nodes", "nodes", "classes"}
    for path in paths:
        check_file(path)


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_models_of_released_versions_are_read(path: Path) -> None:
    check_file(path)
