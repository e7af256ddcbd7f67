"""Algorithm 2: the impact of D, and a second reading of the printed σ²_ed."""

from typing import Any

import pytest

from gradraker import sigma2_ranges
from gradraker.paper.numbers.section_iv import simulate_frequencies
from gradraker.paper.simulations import RunOptions

SETTINGS = {
    "fraction": 0.4,
    "n_frequencies": [20, 50],
    "n_repeats": 2,
    "learning_rate": 0.1,
    "n_epochs": 2,
}


def test_algorithm_2_takes_the_unknown_nodes(temperature: Any, draw_dense_split: Any) -> None:
    found = simulate_frequencies(temperature, SETTINGS, RunOptions(3))
    split, X = draw_dense_split(temperature, 1)
    for noise in ("refined", "minimum"):
        ranges = sigma2_ranges(
            X[split.known],
            n_frequencies=50,
            noise=noise,
            tested=X[split.unknown],
            n_epochs=2,
            random_state=split.seed,
        )
        assert found["50"][noise]["noise_ratio"][1] == pytest.approx(ranges.noise_ratio, rel=1e-10)
        assert found["50"][noise]["sigma2_ed"][1] == pytest.approx(
            ranges.extending_disturbing, rel=1e-10
        )


def test_verdicts_differ_if_the_numbers_contradict_them(changed: Any, compare: Any) -> None:
    found = changed.simulations["algorithm-2"]["results"]
    for of_D in found.values():
        of_D["refined"]["sigma2_ed"] = of_D["formula"]["sigma2_ed"]
    found["200"]["minimum"]["noise_ratio"] = [0.05, 0.06]
    verdicts = compare(changed)
    assert verdicts["algorithm-2-D"].verdict == "differs"
    assert "here 100%" in verdicts["algorithm-2-D"].reason
    assert verdicts["noise-ratio-5.86"].verdict == "differs"
    assert "(noiseup), which supports the first" in verdicts["noise-ratio-5.86"].reason
