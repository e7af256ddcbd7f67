"""Models: thin classes that validate, call pure functions, and store.

Models of rows (:class:`SKGRegressor`, :class:`GradrakerRegressor`) are scikit-learn estimators.
Models of graphs follow one protocol, :class:`NodeModel`, and pass :func:`check_node_model`.
"""

from gradraker.features.engine import watch_progress
from gradraker.metrics import LeftOutAccuracy, LeftOutError
from gradraker.models.bank import BankMember, GradrakerRegressor
from gradraker.models.checks import check_node_model
from gradraker.models.left_out import LeftOut, LeftOutClasses
from gradraker.models.loading import load
from gradraker.models.node_model import NodeModel
from gradraker.models.persistence.archive import read_notes
from gradraker.models.sigma2 import sigma2_ranges
from gradraker.models.skg import SKGNodeRegressor, SKGRegressor
from gradraker.models.validation import NodeScores, NodeSearch, cross_validate_nodes, search_nodes
from gradraker.models.walks import NodeClassifier, NodeRegressor

__all__ = [
    "BankMember",
    "GradrakerRegressor",
    "LeftOut",
    "LeftOutAccuracy",
    "LeftOutClasses",
    "LeftOutError",
    "NodeClassifier",
    "NodeModel",
    "NodeRegressor",
    "NodeScores",
    "NodeSearch",
    "SKGNodeRegressor",
    "SKGRegressor",
    "check_node_model",
    "cross_validate_nodes",
    "load",
    "read_notes",
    "search_nodes",
    "sigma2_ranges",
    "watch_progress",
]
