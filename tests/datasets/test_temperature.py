"""The embedded data against facts read from the published table by hand."""

import csv
import hashlib
import math
import os
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from gradraker import load_temperature
from gradraker.datasets import load_temperature_normals
from gradraker.datasets.dataset import GraphDataset
from gradraker.datasets.temperature import count_stations

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

# Edges counted in the sorted list of altitudes: 1213 pairs closer than 300 m.
N_STATIONS = 89
N_PAIRS = 1213


@pytest.fixture
def january() -> GraphDataset:
    return load_temperature("jan")


def neighbours(data: GraphDataset, name: str) -> set[str]:
    row = data.adjacency[[data.node_names.index(name)]]
    return {data.node_names[i] for i in row.indices}


def weight(data: GraphDataset, name: str, other: str) -> Any:
    return data.adjacency[data.node_names.index(name), data.node_names.index(other)]


def test_temperature_has_the_counted_nodes_and_edges(january: GraphDataset) -> None:
    assert january.n_nodes == N_STATIONS
    assert january.n_edges == 2 * N_PAIRS + N_STATIONS
    assert repr(january) == "GraphDataset('Temperature-Jan', 89 nodes, 2515 edges)"
    # Stations without norm values 1981-2010 are left out.
    assert {"Fey", "Montreux-Clarens", "Rheinfelden"}.isdisjoint(january.node_names)
    assert "Source: MeteoSwiss" in january.licence
    assert "CC BY 4.0" in january.licence


@pytest.mark.parametrize(
    ("station", "altitude", "east", "north", "january_mean"),
    [
        ("Jungfraujoch", 3571, 2641938, 1155287, -14.0),
        ("Locarno / Monti", 366, 2704166, 1114315, 2.7),
        ("Aadorf / Tänikon", 539, 2710518, 1259824, -1.1),
        ("Blatten, Lötschental", 1538, 2629563, 1141083, -6.1),
        ("Zürich / Kloten", 426, 2682711, 1259338, -0.8),
    ],
)
def test_temperature_values_and_positions(
    january: Any, station: str, altitude: Any, east: Any, north: Any, january_mean: float
) -> None:
    node = january.node_names.index(station)
    assert january.position_names == ("altitude_m", "east_m", "north_m")
    assert january.positions[node].tolist() == [altitude, east, north]
    assert january.values[node] == january_mean


def test_temperature_edges_of_high_stations_by_hand(january: GraphDataset) -> None:
    # 3571 - 3294 = 277; the next one below, Weissfluhjoch, is at 2691.
    assert neighbours(january, "Jungfraujoch") == {"Jungfraujoch", "Piz Corvatsch"}
    # 2691 - 2472 = 219 and 2691 - 2501 = 190, but 2691 - 2286 = 405.
    assert neighbours(january, "Weissfluhjoch") == {
        "Weissfluhjoch",
        "Säntis",
        "Col du Grand St-Bernard",
    }


@pytest.mark.parametrize(
    ("high", "low"), [("Ebnat-Kappel", "Grono"), ("Langnau i.E.", "Zürich / Affoltern")]
)
def test_temperature_no_edge_at_exactly_300_m(january: Any, high: str, low: str) -> None:
    altitude = dict(zip(january.node_names, january.positions[:, 0], strict=True))
    assert altitude[high] - altitude[low] == 300.0
    assert weight(january, high, low) == 0.0


def test_temperature_adjacency_is_symmetric_canonical_and_of_ones(january: GraphDataset) -> None:
    adjacency = january.adjacency
    assert isinstance(adjacency, sp.csr_array)
    assert adjacency.dtype == np.float64
    assert adjacency.has_canonical_format
    assert (adjacency != adjacency.T).nnz == 0
    assert set(adjacency.data) == {1.0}
    assert adjacency.diagonal().tolist() == [1.0] * N_STATIONS


def test_temperature_without_self_loops_differs_in_the_diagonal_only(january: GraphDataset) -> None:
    without = load_temperature("jan", self_loops=False)
    assert without.n_edges == 2 * N_PAIRS
    assert (january.adjacency - sp.eye_array(N_STATIONS) != without.adjacency).nnz == 0


@pytest.mark.parametrize("self_loops", [True, False])
def test_edges_of_stations_may_have_weights(self_loops: bool) -> None:
    data = load_temperature("jan", weighted=True, self_loops=self_loops)
    assert data.n_edges == 2 * N_PAIRS + self_loops * N_STATIONS
    assert set(data.adjacency.diagonal()) == {float(self_loops)}
    assert weight(data, "Jungfraujoch", "Piz Corvatsch") == pytest.approx(math.exp(-277 / 300))
    assert weight(data, "Säntis", "Weissfluhjoch") == pytest.approx(math.exp(-190 / 300))
    assert weight(data, "Jungfraujoch", "Weissfluhjoch") == 0.0
    # Both are at 1594 m: an edge of weight 1 that is no self loop.
    assert weight(data, "Chasseral", "Davos") == 1.0


def test_temperature_months_are_twelve_columns() -> None:
    # Row "Jungfraujoch" of the published table of 17.12.2021.
    expected = [-14.0, -14.3, -13.3, -11.1, -6.8, -3.5, -0.9, -1.0, -2.5, -5.2, -10.1, -12.5]
    got = []
    for month in MONTHS:
        data = load_temperature(month)
        assert data.name == f"Temperature-{month.capitalize()}"
        got.append(data.values[data.node_names.index("Jungfraujoch")])
    assert got == expected


@pytest.mark.parametrize("month", ["year", "January", "", 1, None])
def test_unknown_month_is_refused(month: Any) -> None:
    with pytest.raises(ValueError, match=r"month must be one of 'jan', .*, 'dec', got") as caught:
        load_temperature(month)
    assert repr(month) in str(caught.value)


@pytest.mark.data
def test_temperature_equals_the_published_table(january: GraphDataset) -> None:
    folder = os.environ.get("GRADRAKER_DATA")
    if not folder:
        pytest.skip("GRADRAKER_DATA is not set to the folder of the downloaded data sets")
    path = Path(folder, "swiss_temperature")
    path /= "climate-reports-normtables_tre200m0_1961-1990_de.txt"
    assert hashlib.sha256(path.read_bytes()).hexdigest().startswith("185fbaec454c8e0e")
    lines = path.read_text(encoding="iso-8859-1").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Station\t"))
    published = {
        row[0]: (float(row[1]), [float(cell) for cell in row[4:16]])
        for row in csv.reader(lines[start + 1 :], delimiter="\t")
        if row
    }
    assert len(published) == 92
    assert set(january.node_names) <= set(published)
    for column, month in enumerate(MONTHS):
        data = load_temperature(month)
        assert data.positions is not None
        for name, altitude, value in zip(
            data.node_names, data.positions[:, 0], data.values, strict=True
        ):
            assert (altitude, value) == (published[name][0], published[name][1][column]), name


def test_embedded_table_has_its_licence_beside_it() -> None:
    text = resources.files("gradraker.datasets").joinpath("README.md").read_text(encoding="utf-8")
    assert "Source: MeteoSwiss" in text
    assert "CC BY 4.0" in text


def test_the_normals_are_those_of_each_month() -> None:
    data, series = load_temperature_normals(weighted=True, self_loops=False)
    assert series.shape == (12, 89)
    for month, values in zip(MONTHS, series, strict=True):
        alone = load_temperature(month, weighted=True, self_loops=False)
        assert np.array_equal(values, alone.values)
        assert (alone.adjacency != data.adjacency).nnz == 0
    assert np.allclose(data.values, series.mean(axis=0))
    assert "Source: MeteoSwiss" in data.licence
    assert data.name == "Temperature normals weighted"


def test_the_normals_of_a_station_are_those_of_the_published_table() -> None:
    data, series = load_temperature_normals()
    aigle = [0.0, 1.7, 4.7, 8.5, 12.4, 15.7, 18.0, 17.1, 14.1, 9.5, 4.3, 0.7]
    assert series[:, data.node_names.index("Aigle")].tolist() == aigle


def test_both_periods_have_the_stations_that_are_counted() -> None:
    assert count_stations() == {
        "stations 1961-1990": 92,
        "stations 1981-2010": 91,
        "stations": N_STATIONS,
    }
    table = resources.files("gradraker.datasets").joinpath("swiss_stations_1981_2010.csv")
    later = {row["station"]: row for row in csv.DictReader(table.read_text("utf-8").splitlines())}
    missing = set(load_temperature().node_names) - set(later)
    assert missing == {"Fribourg / Grangeneuve"}  # it was called Fribourg / Posieux then
    assert "Fribourg / Posieux" in later
    assert {"Lägern", "Robièi"} <= set(later)
