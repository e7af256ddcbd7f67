"""The machine of a benchmark: one line per fact, nothing that changes from run to run."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import gradraker

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def n_cores() -> int:
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return granted or 1


def facts(seed: int) -> dict[str, str]:
    """Facts by name: processor, cores, versions and the seed of the benchmark."""
    versions = {package: version(package) for package in _PACKAGES}
    return {
        "processor": cpu_model(),
        "cores": str(n_cores()),
        "python": platform.python_version(),
        **versions,
        "gradraker": gradraker.__version__,
        "seed": str(seed),
    }


def print_facts(seed: int) -> None:
    for name, fact in facts(seed).items():
        print(f"{name:12s} {fact}")


if __name__ == "__main__":
    print_facts(seed=0)
