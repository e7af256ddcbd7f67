"""The paper's settings for Temperature-Jan, and how estimates are compared with expectations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

ERRORS = 4.5
# The paper's settings for Temperature-Jan.
D, ETA, N_EPOCHS = 200, 0.1, 3
CHAOS, EXTENDING, DISTURBING, AVERAGING = 0.1, 2.0, 10.0, 300.0
SPLITS = range(12)


def assert_mean(samples: NDArray[np.float64] | list[Any], expected: Any) -> None:
    """The mean of independent samples is what it should be."""
    samples = np.asarray(samples)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0) - expected) < ERRORS * error)


def assert_variance(samples: NDArray[np.float64], expected: Any) -> None:
    """The variance of independent samples is what it should be."""
    samples = np.asarray(samples)
    assert_mean((samples - samples.mean(axis=0)) ** 2, expected)
