"""Coordinates among the attributes of nodes."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gradraker.attributes import AttributeTable

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
Coordinates = NDArray[np.float64]


def find_coordinates(
    attributes: "AttributeTable | None",
) -> tuple[Coordinates | None, tuple[str, str]]:
    """Return where nodes are (n, 2), by columns of numbers with names that tell, and these names.

    Examples
    --------
    >>> import polars as pl
    >>> from gradraker import NodeRegressor
    >>> from gradraker.studio import find_coordinates
    >>> table = pl.DataFrame({"node": ["a", "b"], "Lat": [47.0, None], "Lon": [8.5, 9.0]})
    >>> model = NodeRegressor().fit([("a", "b")], {"a": 1.0}, attributes=table)
    >>> positions, names = find_coordinates(model.attributes_)
    >>> positions.tolist(), names
    ([[8.5, 47.0], [9.0, nan]], ('Lon', 'Lat'))
    """
    columns = () if attributes is None else attributes.columns or ()
    numbers = {one.name.lower(): one.name for one in columns if one.kind == "number"}
    for right, up in _PAIRS:
        if attributes is not None and right in numbers and up in numbers:
            names = numbers[right], numbers[up]
            at = [attributes.names.index(name) for name in names]
            found = attributes.matrix[:, at]
            return np.asarray(found.toarray() if attributes.is_sparse else found, float), names
    return None, ("x", "y")
