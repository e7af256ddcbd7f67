"""The figures of section VI.B.2: D, η and E varied."""

from collections.abc import Callable
from typing import Any

import pytest

from gradraker.paper import make_table
from gradraker.paper.simulations import PaperResults


def test_table_has_the_setting_as_a_column(results: PaperResults) -> None:
    header, *rows = make_table(results, "epochs")
    assert header == ["n_epochs", "sigma2", "mean", "standard_error"]
    assert sorted({row[0] for row in rows}) == [1, 3, 10, 30]


@pytest.mark.parametrize("key", ["best-without-D", "best-with-eta", "best-with-E", "few-D"])
def test_claims_differ_if_the_curves_contradict_them(
    changed: PaperResults, compare: Callable[..., Any], key: str
) -> None:
    for name in ("frequencies", "learning-rate", "epochs"):
        for i, sweep in enumerate(changed.simulations[name]["results"]["sweeps"]):
            n = len(sweep["sigma2"])
            best = 0 if i < 3 else n - 1
            row = [1.0] * n
            row[best] = 0.5
            sweep["gnmse"] = [row for _ in sweep["gnmse"]]
    assert compare(changed)[key].verdict == "differs"
