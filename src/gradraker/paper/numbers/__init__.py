"""Numbers of the paper that belong to no figure, one file per section.

A new section is a new file that defines ``SIMULATIONS`` and ``CLAIMS``, and its name in ``FILES``.
"""

from typing import Any

from gradraker.paper.claims import Claim
from gradraker.paper.numbers import (
    readings,
    section_iii,
    section_iv,
    section_v,
    section_vi_b,
)
from gradraker.paper.simulations import Simulation

__all__ = ["CLAIMS", "SIMULATIONS"]

# The order in which simulations are written.
FILES = (section_iii, section_v, section_iv, readings, section_vi_b)

SIMULATIONS: tuple[Simulation[Any], ...] = tuple(
    simulation for file in FILES for simulation in file.SIMULATIONS
)
CLAIMS: tuple[Claim, ...] = tuple(claim for file in FILES for claim in file.CLAIMS)
