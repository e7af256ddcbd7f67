"""Mixes: shares of all terms, from a few numbers."""

import pytest

from gradraker.models.walks.operators.mixes import Mix


def test_mixes_have_shares_that_sum_to_one() -> None:
    for mix in (Mix(), Mix(lean="near"), Mix(0.2, 0.1, 0.3, 0.1, "far"), Mix(degrees=1.0)):
        kernel = mix.to_kernel()
        assert sum(term.share for term in kernel) == pytest.approx(1.0)
        assert all(term.share > 0.0 for term in kernel)
    moved = Mix(degrees=0.2, alternating=0.4).set_share("degrees", 0.6)
    assert moved.degrees == 0.6
    assert moved.alternating == pytest.approx(0.2)  # the rest halves
