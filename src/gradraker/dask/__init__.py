"""Node models on a Dask cluster, in the convention of LightGBM and XGBoost."""

from gradraker.dask.models import DaskNodeClassifier, DaskNodeRegressor

__all__ = ["DaskNodeClassifier", "DaskNodeRegressor"]
