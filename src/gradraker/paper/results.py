"""Results of the simulations, in a file from which everything can be drawn again."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from gradraker._files import write_bytes
from gradraker.paper.paper_data import DATA
from gradraker.paper.plan import Simulation, to_json_line

FORMAT = "gradraker reproduction 1"
_HEADER = {"parts", "fast", "random_state", "versions", "datasets", "simulations"}
_SIMULATION = {"dataset", "settings", "results"}

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class PaperResults:
    """Results of the paper's simulations; not to be changed, since they are parsed once.

    Attributes
    ----------
    header : dict
        Seed, ``fast``, the names of the figures asked for, versions, and for each data set its
        counts and checksum, or how to get it.
    simulations : dict of str to dict
        For each simulation that was run its ``dataset``, ``settings`` and ``results``.

    Examples
    --------
    >>> from gradraker.paper import read_results
    >>> results = read_results("paper/results.jsonl")  # doctest: +SKIP
    """

    header: Mapping[str, Any]
    simulations: Mapping[str, Mapping[str, Any]]
    _parsed: dict[str, Any] = field(default_factory=dict, init=False)

    def has(self, name: str) -> bool:
        """Whether a simulation was run."""
        return name in self.simulations

    def get(self, simulation: Simulation[T]) -> T:
        """Return the results of a simulation as the object that figures and claims use."""
        if simulation.name not in self._parsed:
            found = self.simulations[simulation.name]
            settings = {"data": {"name": DATA[simulation.data].title}, **found["settings"]}
            self._parsed[simulation.name] = simulation.parse(found["results"], settings)
        parsed: T = self._parsed[simulation.name]
        return parsed

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON lines: the header, then one line per simulation; all or nothing."""
        names = list(self.simulations)
        lines = [to_json_line({"format": FORMAT, **self.header, "simulations": names})]
        for name, simulation in self.simulations.items():
            lines.append(to_json_line({"simulation": name, **simulation}))
        return write_bytes(path, "".join(lines).encode())

    def __repr__(self) -> str:
        return f"PaperResults of {', '.join(self.simulations)}"


def read_results(path: str | os.PathLike[str]) -> PaperResults:
    """Read a file that :meth:`PaperResults.save` wrote.

    Examples
    --------
    >>> from gradraker.paper import read_results
    >>> results = read_results("paper/results.jsonl")  # doctest: +SKIP
    """
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
            f"{str(path)!r} is not a results file: its first line must be a JSON object with "
            f"the format {FORMAT!r}, and each other line one with a simulation"
        ) from error
    if header.pop("simulations") != list(found):
        raise ValueError(
            f"{str(path)!r} is incomplete: it does not hold the simulations that its first line "
            "names; run 'gradraker reproduce' again"
        )
    return PaperResults(header, found)
