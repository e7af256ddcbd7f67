"""Section V.B: the sizes of the data sets."""

from typing import Any

from gradraker.paper.claims import ClaimList
from gradraker.paper.plan import Simulation
from gradraker.paper.rules import STATIONS, compare_count

SIMULATIONS: tuple[Simulation[Any], ...] = ()
CLAIMS = ClaimList()

# Why our count differs, if it does.
_WHY = {
    "stations-1961": "The table of today has {n} stations; a revision with 93 was not found.",
    "stations": STATIONS,
}

for _key, _place, _quantity, _printed, _data, _fact in (
    ("stations-1961", "V.B.1", "Stations 1961–1990", "93", "temperature", "stations 1961-1990"),
    ("stations-1981", "V.B.1", "Stations 1981–2010", "91", "temperature", "stations 1981-2010"),
    ("stations", "V.B.1", "Stations in both periods", "83", "temperature", None),
    ("papers", "V.B.2", "Papers of Cora", "2708", "cora", "papers"),
    ("topics", "V.B.2", "Topics of Cora", "7", "cora", "classes"),
    (
        "papers-citing-none",
        "V.B.2",
        "Papers that cite none",
        "486",
        "cora",
        "papers that cite nobody",
    ),
    ("papers-left", "V.B.2", "Papers of Cora-Con", "2222", "cora", None),
    ("members", "V.B.3", "Members of Email-EU-Core", "1005", "email", None),
    ("departments", "V.B.3", "Departments of Email-EU-Core", "42", "email", "departments"),
    ("pages", "V.B.4", "Pages of Wikipedia-Math", "1068", "wikipedia", None),
    ("days", "V.B.4", "Days of visits of Wikipedia-Math", "731", "wikipedia", "days"),
):
    CLAIMS.add(
        _key,
        _place,
        _quantity,
        _printed,
        compare_count(_data, _fact, why=_WHY.get(_key, "")),
        data=_data,
        needs_values=_key == "days",
    )
