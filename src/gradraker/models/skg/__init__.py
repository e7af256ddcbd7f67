"""Single-kernel Gradraker (SKG)."""

from gradraker.models.skg.skg_regressor import SKGRegressor

__all__ = ["SKGRegressor"]
