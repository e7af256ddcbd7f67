"""A bank of kernels, weighed online (Gradraker)."""

from gradraker.models.bank.gradraker_regressor import GradrakerRegressor
from gradraker.models.bank.members import BankMember

__all__ = ["BankMember", "GradrakerRegressor"]
