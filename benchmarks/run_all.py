"""Run every benchmark, ``bench_*.py`` in this folder, one after another.

Run ``make bench`` or ``python benchmarks/run_all.py``; ``--full`` for the full sizes.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from machine import print_facts
from report import SEED, Report, options


def names() -> list[str]:
    """Names of the benchmarks in the folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Run all, print which aims are not met, and return the results by name."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    options(arguments, __doc__)
    print_facts(SEED)
    results: dict[str, object] = {}
    for name in names():
        print(f"\n[{name}]", flush=True)
        results[name] = import_module(name).main(arguments)
    print()
    for name, result in results.items():
        if isinstance(result, Report) and result.judged:
            for finding in result.findings:
                if finding.aim is not None:
                    print(f"{name:18s} {finding.label}: {finding.verdict(judged=True)}")
    return results


if __name__ == "__main__":
    main()
