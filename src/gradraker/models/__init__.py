"""Estimators: thin classes that validate, call pure functions, and store."""

from gradraker.exceptions import ModelFileError
from gradraker.models.bank import BankMember, GradrakerRegressor
from gradraker.models.persistence.archive import read_notes
from gradraker.models.persistence.loading import load
from gradraker.models.sigma2 import sigma2_ranges
from gradraker.models.skg import SKGRegressor
from gradraker.models.walks import NodeClassifier, NodeRegressor

__all__ = [
    "BankMember",
    "GradrakerRegressor",
    "ModelFileError",
    "NodeClassifier",
    "NodeRegressor",
    "SKGRegressor",
    "load",
    "read_notes",
    "sigma2_ranges",
]
