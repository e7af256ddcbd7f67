"""Sines and cosines, and normal draws, per second: ours compared with NumPy, on one core.

Run ``python benchmarks/bench_features.py``.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import kstest

from gradraker._compiled.draws import NORMAL, draw_rows
from gradraker._compiled.fourier_lms import compute_sincos
from report import (
    SEED,
    Agreement,
    Finding,
    Report,
    Timing,
    finish,
    interleaved,
    options,
    ratio,
    run_alone,
    table,
)


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    pairs, pair_agreements, pair_table = _measure_sines(arguments.tiny)
    draws, draw_agreements, draw_table = _measure_draws(arguments.tiny)
    report = Report(
        "Features: sin/cos pairs and normal draws on one core",
        findings=(*pairs, *draws),
        agreements=(*pair_agreements, *draw_agreements),
        tables=(pair_table, draw_table),
        judged=not arguments.tiny,
    )
    return finish(report)


def _measure_sines(tiny: bool) -> tuple[list[Finding], list[Agreement], str]:
    # One row of D = 1000 projections, many times.
    n, rounds = (100, 2) if tiny else (1000, 500)
    angles = 3.0 * np.random.default_rng(SEED).standard_normal(n)
    sine, cosine = np.empty(n), np.empty(n)
    their_sine, their_cosine = np.empty(n), np.empty(n)

    def run_ours() -> None:
        for _ in range(rounds):
            compute_sincos(angles, 1.0, 1.0, sine, cosine)

    def run_numpy() -> None:
        for _ in range(rounds):
            np.sin(angles, out=their_sine)
            np.cos(angles, out=their_cosine)

    times = interleaved({"numpy float64": run_numpy, "gradraker": run_ours}, tiny=tiny)
    difference = max(abs(sine - their_sine).max(), abs(cosine - their_cosine).max())
    speed = ratio(times["numpy float64"], times["gradraker"])
    findings = [Finding("sin/cos pairs against NumPy", speed, 10)]
    agreements = [Agreement("sines and cosines", float(difference), 4e-16)]
    return (
        findings,
        agreements,
        _format_rates("million pairs/s", times, n * rounds, "numpy float64"),
    )


def _measure_draws(tiny: bool) -> tuple[list[Finding], list[Agreement], str]:
    m, d = (20, 100) if tiny else (2000, 500)
    units = np.empty((m, d), dtype=np.float32)
    identities, rows = np.arange(m, dtype=np.uint64), np.arange(m)
    rng = np.random.default_rng(SEED)
    double, single = np.empty((m, d)), np.empty((m, d), dtype=np.float32)
    times = interleaved(
        {
            "numpy float64": lambda: rng.standard_normal(out=double),
            "numpy float32": lambda: rng.standard_normal(out=single, dtype=np.float32),
            "gradraker": lambda: draw_rows(np.uint64(SEED), identities, rows, NORMAL, units),
        },
        tiny=tiny,
    )
    findings = [
        Finding(f"normal draws against {name}", ratio(times[name], times["gradraker"]))
        for name in ("numpy float64", "numpy float32")
    ]
    # Kolmogorov's distance to the normal law: one sample in a thousand exceeds 1.95/√n.
    distance = float(kstest(units.ravel(), "norm").statistic)
    agreements = [Agreement("law of the draws", distance, 1.95 / np.sqrt(m * d))]
    return findings, agreements, _format_rates("million normals/s", times, m * d, "numpy float64")


def _format_rates(unit: str, times: dict[str, Timing], count: int, peer: str) -> str:
    return table(
        ["", unit, "against " + peer],
        [
            [name, f"{1e-6 * count / timing.median:.0f}", f"{ratio(times[peer], timing):.1f}×"]
            for name, timing in times.items()
        ],
    )


if __name__ == "__main__":
    run_alone(main)
