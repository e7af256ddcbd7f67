"""Targets that are known at different nodes, solved in groups."""

import numpy as np

from gradraker import NodeRegressor
from spread_graph import fit_both, make_graph


def test_many_targets_are_solved_in_groups() -> None:
    _, values = make_graph()
    several = values[:, np.newaxis] * np.linspace(1.0, 2.0, 70) + np.arange(70)
    several[~np.isnan(values), 1:] += np.random.default_rng(1).normal(size=(100, 69))
    model = NodeRegressor(
        solver="operators", blocks=("hop1", "hop4"), alpha=0.5, transform="none", tol=1e-8
    )
    plain, spread, mapper = fit_both(model, several)
    assert mapper.n_pieces == [3]  # of 32 columns
    np.testing.assert_array_equal(spread.predict(), plain.predict())
    A, _ = make_graph()
    for target in (0, 40, 69):  # as if it were the only one
        alone = type(model)(**model.get_params()).fit(A, several[:, target], kind="matrix")
        np.testing.assert_allclose(spread.predict()[:, target], alone.predict(), atol=1e-5)
