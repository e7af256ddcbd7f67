"""Node models: nodes compared by where random walks from them lead."""

from gradraker.models.walks.node_classifier import NodeClassifier
from gradraker.models.walks.node_regressor import NodeRegressor

__all__ = ["NodeClassifier", "NodeRegressor"]
