"""Estimators: thin classes that validate, call pure functions, and store."""

from gradraker.learners.loading import load
from gradraker.learners.model_file import ModelFileError
from gradraker.learners.skg import SKGRegressor

__all__ = ["ModelFileError", "SKGRegressor", "load"]
