"""Linear models on features, as pure functions over arrays: least mean squares, ridge, weights.

No function here depends on estimators, graphs or files.
"""

from gradraker.linear.lms import contribution_weights

__all__ = ["contribution_weights"]
