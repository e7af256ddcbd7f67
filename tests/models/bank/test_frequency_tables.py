"""Referencing nodes of a bank: new ones, and those that data frames name."""

import numpy as np
import pandas as pd

from bank_examples import NAMES, N, X, Y, bank


def test_references_may_grow_without_views() -> None:
    kernels = [1.5, ("laplacian", 2.0)]
    few = np.flatnonzero(~X[:, :6].any(axis=1))  # nodes that know the last six names only
    others = np.setdiff1d(np.arange(N), few)
    order = [*few, *others]
    together = bank(kernels=kernels).partial_fit(X[order], Y[order], references=NAMES)
    growing = bank(kernels=kernels)
    growing.partial_fit(X[few][:, 6:], Y[few], references=NAMES[6:])
    growing.partial_fit(X[others], Y[others], references=NAMES)
    np.testing.assert_allclose(growing.coef_, together.coef_, rtol=1e-12, atol=1e-15)
    assert set(growing.references_) == set(NAMES)
    predicted = growing.predict(X[:, :3], references=["new", *NAMES[1:3]])
    assert np.isfinite(predicted).all()


def test_data_frames_bring_names() -> None:
    frame = pd.DataFrame(X, columns=NAMES, index=[f"row {n}" for n in range(N)])
    model = bank().fit(frame, Y)
    assert list(model.references_) == NAMES
    assert model.explain(frame).known_names[3] == "row 3"
    np.testing.assert_array_equal(
        model.predict(frame), bank().fit(X, Y, references=NAMES).predict(X, references=NAMES)
    )
