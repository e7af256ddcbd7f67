"""Numbers of the paper that belong to no figure, one file per section.

For a new section, add a file that defines ``SIMULATIONS`` and ``CLAIMS``, and its name here.
"""

from typing import Any

from gradraker.paper.claims import Claim
from gradraker.paper.figures import section_vi
from gradraker.paper.numbers import section_iii, section_iv, section_v
from gradraker.paper.simulations import Simulation

__all__ = ["CLAIMS", "SIMULATIONS"]

# The order in which simulations are written.
SIMULATIONS: tuple[Simulation[Any], ...] = (
    *section_iii.SIMULATIONS,
    *section_v.SIMULATIONS,
    *section_iv.SIMULATIONS,
    *section_v.READINGS,
    *section_vi.SIMULATIONS,
)
CLAIMS: tuple[Claim, ...] = (*section_iii.CLAIMS, *section_v.CLAIMS, *section_iv.CLAIMS)
