"""Monthly mean temperatures at Swiss weather stations, joined by altitude."""

import csv
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import check_choice
from gradraker.datasets.dataset import DatasetInfo, GraphDataset

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# Stations are neighbours if their altitudes differ by less than this many metres.
ALTITUDE_RANGE_M = 300.0

POSITION_NAMES = ("altitude_m", "east_m", "north_m")


def load_temperature(
    month: str = "jan", *, weighted: bool = False, self_loops: bool = True
) -> GraphDataset:
    """Load mean temperatures of one month at 89 Swiss weather stations.

    Two stations are joined if their altitudes differ by less than 300 m. Values
    are the norm values 1961-1990 of the air temperature 2 m above ground, in °C.

    Source: MeteoSwiss. Licence: CC BY 4.0. The stations are those whose norm
    values were published both for 1961-1990 and for 1981-2010. The paper used
    83 stations; which ones is not public.

    Parameters
    ----------
    month : str
        ``"jan"``, ``"feb"``, ..., ``"dec"``.
    weighted : bool
        If true, an edge weighs exp(-Δ/300), where Δ is the difference of
        altitudes in m; otherwise it weighs 1.
    self_loops : bool
        Whether a station is joined to itself, with weight 1, as its altitude
        differs from itself by less than 300 m. ``docs/theory/paper.md`` shows the effect.

    Returns
    -------
    GraphDataset
        Positions are the altitude in m above sea level and the Swiss
        coordinates LV95, east and north, in m.

    Examples
    --------
    >>> from gradraker import load_temperature
    >>> data = load_temperature("jan")
    >>> data
    GraphDataset('Temperature-Jan', 89 nodes, 2515 edges)
    >>> jungfraujoch = data.node_names.index("Jungfraujoch")
    >>> print(data.values[jungfraujoch], data.positions[jungfraujoch, 0])
    -14.0 3571.0
    """
    check_choice("month", month, MONTHS)
    stations = _read_stations()
    values = np.array([float(row[month]) for row in stations])
    return _join_by_altitude(stations, values, month.capitalize(), weighted, self_loops)


INFO = DatasetInfo(
    name="temperature",
    loader=load_temperature,
    description=(
        "Swiss weather stations; an edge joins stations of similar altitude; the value is the "
        "mean temperature of a month"
    ),
    facts={"stations": 89},
    licence="CC BY 4.0. Source: MeteoSwiss",
    citation="MeteoSwiss: norm values 1961-1990 of the air temperature 2 m above ground",
)


def load_temperature_normals(
    *, weighted: bool = False, self_loops: bool = True
) -> tuple[GraphDataset, NDArray[np.float64]]:
    """Load the mean temperatures of all twelve months at 89 Swiss weather stations.

    Source: MeteoSwiss. Licence: CC BY 4.0. Stations and edges are those of
    :func:`load_temperature`.

    Parameters
    ----------
    weighted, self_loops : bool
        As in :func:`load_temperature`.

    Returns
    -------
    data : GraphDataset
        The stations; values are means over the months.
    series : array of shape (12, 89)
        Mean temperature in °C of each month, January first, at each station.

    Examples
    --------
    >>> from gradraker.datasets import load_temperature_normals
    >>> data, series = load_temperature_normals()
    >>> series.shape
    (12, 89)
    >>> series[[0, 6], data.node_names.index("Jungfraujoch")]
    array([-14. ,   ...])
    """
    stations = _read_stations()
    series = np.array([[float(row[month]) for row in stations] for month in MONTHS])  # [12, n]
    data = _join_by_altitude(stations, series.mean(axis=0), None, weighted, self_loops)
    return data, series


def _join_by_altitude(
    stations: list[dict[str, str]],
    values: NDArray[np.float64],
    month: str | None,
    weighted: bool,
    self_loops: bool,
) -> GraphDataset:
    """Join stations of similar altitude; values are those of a month, or means over all."""
    name = "Temperature normals" if month is None else f"Temperature-{month}"
    positions = np.array(
        [[float(row[column]) for column in POSITION_NAMES] for row in stations]
    )  # [n, 3]
    altitude = positions[:, 0]
    gap = np.abs(altitude[:, np.newaxis] - altitude)  # [n, n], small enough to be dense
    weight = np.exp(-gap / ALTITUDE_RANGE_M) if weighted else np.ones_like(gap)
    adjacency = np.where(gap < ALTITUDE_RANGE_M, weight, 0.0)
    if not self_loops:
        np.fill_diagonal(adjacency, 0.0)
    return GraphDataset(
        adjacency,  # GraphDataset makes it sparse
        values,
        tuple(row["station"] for row in stations),
        name=name + (" weighted" if weighted else ""),
        positions=positions,
        position_names=POSITION_NAMES,
        description=(
            f"Mean air temperature of {month or 'all months'} 1961-1990 in °C, 2 m above ground, "
            "at Swiss weather stations; an edge joins stations whose altitudes differ by less than "
            f"{ALTITUDE_RANGE_M:g} m{', with weight exp(-difference/300)' if weighted else ''}"
        ),
        licence="CC BY 4.0. Source: MeteoSwiss",
    )


def count_stations() -> dict[str, int]:
    """Count stations with norm values 1961-1990, with those of 1981-2010, and with both."""
    later = resources.files("gradraker.datasets").joinpath("swiss_stations_1981_2010.csv")
    n_later = len(later.read_text(encoding="utf-8").splitlines()) - 1  # without the header
    return {
        "stations 1961-1990": len(_read_table()),
        "stations 1981-2010": n_later,
        "stations": len(_read_stations()),
    }


def _read_stations() -> list[dict[str, str]]:
    return [row for row in _read_table() if row["also_1981_2010"] == "1"]


def _read_table() -> list[dict[str, str]]:
    table = resources.files("gradraker.datasets").joinpath("swiss_stations.csv")
    return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
