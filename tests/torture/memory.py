"""The largest memory that a call needed, as Linux knows it."""

from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def can_measure() -> bool:
    """Whether this system tells the largest memory and can forget it."""
    try:
        reset_peak()
    except OSError:
        return False
    return _STATUS.exists()


def reset_peak() -> int:
    """Forget the largest memory so far; return the present one in bytes."""
    _RESET.write_text("5")
    return _read("VmRSS")


def get_peak() -> int:
    """Return the largest memory since it was reset, in bytes."""
    return _read("VmHWM")


def _read(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise OSError(f"{name} is missing")
