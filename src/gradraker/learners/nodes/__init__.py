"""Predict values and classes of nodes from the graph and the nodes that are known."""

from gradraker.learners.nodes.choice import Choice
from gradraker.learners.nodes.classifier import LeaveOneOutAccuracy, NodeClassifier
from gradraker.learners.nodes.regressor import LeaveOneOutError, NodeRegressor

__all__ = ["Choice", "LeaveOneOutAccuracy", "LeaveOneOutError", "NodeClassifier", "NodeRegressor"]
