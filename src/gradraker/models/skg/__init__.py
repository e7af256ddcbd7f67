"""Single-kernel Gradraker (SKG), as a model of rows and as a model of graphs."""

from gradraker.models.skg.skg_node_regressor import SKGNodeRegressor
from gradraker.models.skg.skg_regressor import SKGRegressor

__all__ = ["SKGNodeRegressor", "SKGRegressor"]
