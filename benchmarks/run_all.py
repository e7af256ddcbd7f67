"""Run every benchmark, ``bench_*.py`` in this folder, one after another.

Run ``make bench`` or ``python benchmarks/run_all.py``; ``--full`` for the full sizes, ``--only
fit,online`` for some of them. The numbers are compared with the last run and stored in
``history.jsonl``.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from history import keep_run
from machine import print_facts
from report import SEED, Report, options


def names() -> list[str]:
    """Names of the benchmarks in the folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Run all, print whether aims are met and the changes, and return the results by name."""
    arguments, chosen = take_names(sys.argv[1:] if argv is None else list(argv))
    parsed = options(arguments, __doc__)
    print_facts(SEED)
    results: dict[str, object] = {}
    for name in chosen:
        print(f"\n[{name}]", flush=True)
        results[name] = import_module(name).main(arguments)
    print()
    for name, result in results.items():
        if isinstance(result, Report) and result.judged:
            for finding in result.findings:
                if finding.aim is not None:
                    print(f"{name:18s} {finding.label}: {finding.verdict(judged=True)}")
    if not parsed.tiny:
        print(f"\n{keep_run(results, 'full' if parsed.full else 'short')}")
    return results


def take_names(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split ``--only fit,online`` from the other arguments; without it, all benchmarks."""
    if "--only" not in arguments:
        return arguments, names()
    at = arguments.index("--only")
    requested = arguments[at + 1].split(",") if at + 1 < len(arguments) else [""]
    chosen = [f"bench_{word.removeprefix('bench_')}" for word in requested]
    wrong = sorted(set(chosen) - set(names()))
    if wrong:
        known = ", ".join(name.removeprefix("bench_") for name in names())
        sys.exit(f"--only must name benchmarks, got {', '.join(requested)}; there are {known}")
    return arguments[:at] + arguments[at + 2 :], chosen


if __name__ == "__main__":
    main()
