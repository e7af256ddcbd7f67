"""Node models: nodes are compared by where walks from them lead."""

from gradraker.models.walks.node_classifier import NodeClassifier
from gradraker.models.walks.node_regressor import NodeRegressor

__all__ = ["NodeClassifier", "NodeRegressor"]
