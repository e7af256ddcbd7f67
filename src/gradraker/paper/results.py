"""What the simulations gave, in a file from which everything is drawn again."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradraker._files import write_atomically

FORMAT = "gradraker reproduction 1"
_HEADER = {"parts", "fast", "random_state", "versions", "datasets", "simulations"}
_SIMULATION = {"dataset", "settings", "results"}


@dataclass(frozen=True, eq=False, repr=False)
class PaperResults:
    """Results of the paper's simulations.

    Attributes
    ----------
    header : dict
        Seed, ``fast``, the names of the figures asked for, versions, and for each data set its
        counts and checksum, or how to get it.
    simulations : dict of str to dict
        For each simulation that was run its ``dataset``, ``settings`` and ``results``.
    """

    header: Mapping[str, Any]
    simulations: Mapping[str, Mapping[str, Any]]

    def has(self, name: str) -> bool:
        """Whether a simulation was run."""
        return name in self.simulations

    def of(self, name: str) -> Mapping[str, Any]:
        """Results of a simulation."""
        results: Mapping[str, Any] = self.simulations[name]["results"]
        return results

    def settings(self, name: str) -> Mapping[str, Any]:
        """Settings of a simulation."""
        settings: Mapping[str, Any] = self.simulations[name]["settings"]
        return settings

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON lines: the header, then one line a simulation; whole or not at all."""
        names = list(self.simulations)
        lines = [json_line({"format": FORMAT, **self.header, "simulations": names})]
        for name, simulation in self.simulations.items():
            lines.append(json_line({"simulation": name, **simulation}))
        text = "".join(lines)
        return write_atomically(path, lambda file: _write(file, text))

    def __repr__(self) -> str:
        return f"PaperResults of {', '.join(self.simulations)}"


def read_results(path: str | os.PathLike[str]) -> PaperResults:
    """Read what :meth:`PaperResults.save` wrote."""
    content = Path(path).read_bytes()
    try:
        header, *simulations = map(json.loads, content.splitlines())
        if header.pop("format") != FORMAT or not header.keys() >= _HEADER:
            raise KeyError("format")
        found = {simulation.pop("simulation"): simulation for simulation in simulations}
        if not all(simulation.keys() == _SIMULATION for simulation in found.values()):
            raise KeyError("simulation")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{str(path)!r} is no results file: its first line must be a JSON object with "
            f"the format {FORMAT!r}, and each other line one with a simulation"
        ) from error
    if header.pop("simulations") != list(found):
        raise ValueError(
            f"{str(path)!r} is not whole: it holds other simulations than its first line names; "
            "run 'gradraker reproduce' again"
        )
    return PaperResults(header, found)


def json_line(content: Mapping[str, Any]) -> str:
    """One line of JSON; floats have as many digits as it takes to read them back exactly."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
