"""Small graphs that tests of several rooms share."""

import numpy as np


def random_graph(seed=0, n=31):
    rng = np.random.default_rng(seed)
    A = (rng.random((n, n)) < 0.1) * rng.uniform(0.5, 2.0, (n, n))
    y = rng.normal(size=n)
    known = rng.permutation(n)[:13]
    values = np.full(n, np.nan)
    values[known] = y[known]
    return A, values, np.sort(known)
