"""Coordinates among the attributes of nodes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Columns that say where a node is: to the right, and upwards.
_PAIRS = (
    ("x", "y"),
    ("east", "north"),
    ("east_m", "north_m"),
    ("easting", "northing"),
    ("longitude", "latitude"),
    ("lon", "lat"),
    ("long", "lat"),
    ("lng", "lat"),
)
Coordinates = dict[str, tuple[float, float]]


def find_coordinates(
    attributes: "pl.DataFrame | None",
) -> tuple[Coordinates, tuple[str, str]]:
    """Return where nodes are, by columns of numbers with names that tell, and these names.

    Examples
    --------
    >>> import polars as pl
    >>> from gradraker.studio import find_coordinates
    >>> table = pl.DataFrame({"node": ["a", "b"], "Lat": [47.0, None], "Lon": [8.5, 9.0]})
    >>> find_coordinates(table)
    ({'a': (8.5, 47.0)}, ('Lon', 'Lat'))
    >>> find_coordinates(table.drop("Lat"))
    ({}, ('x', 'y'))
    """
    if attributes is None:
        return {}, ("x", "y")
    numbers = {
        name.lower(): name for name in attributes.columns if attributes[name].dtype.is_numeric()
    }
    for right, up in _PAIRS:
        if right in numbers and up in numbers:
            names = numbers[right], numbers[up]
            rows = attributes.select("node", *names).drop_nulls().iter_rows()
            return {node: (float(x), float(y)) for node, x, y in rows}, names
    return {}, ("x", "y")
