"""Estimators: thin classes that validate, call pure functions, and store."""

from gradraker.learners.bank import GradrakerRegressor
from gradraker.learners.bank_members import BankMember
from gradraker.learners.loading import load
from gradraker.learners.model_file import ModelFileError, read_notes
from gradraker.learners.nodes import NodeClassifier, NodeRegressor
from gradraker.learners.sigma2 import sigma2_ranges
from gradraker.learners.skg import SKGRegressor
from gradraker.learners.weights import contribution_weights

__all__ = [
    "BankMember",
    "GradrakerRegressor",
    "ModelFileError",
    "NodeClassifier",
    "NodeRegressor",
    "SKGRegressor",
    "contribution_weights",
    "load",
    "read_notes",
    "sigma2_ranges",
]
