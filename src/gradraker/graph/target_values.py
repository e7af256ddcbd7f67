"""Values of several targets at once, taken apart into one column per target."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradraker.graph.values import select_columns


class Targets(NamedTuple):
    """Names of targets, and the values of each in a form that one target may have."""

    names: list[Hashable]
    columns: list[Any]


def split_targets(
    values: Any, *, node: Hashable = None, value: Any = None, names: Sequence[Hashable] = ()
) -> Targets | None:
    """Take values of several targets apart; None if there is one target only.

    Parameters
    ----------
    values : table with several columns of ``value``, array (n, K), or mapping
        A mapping leads from nodes to K numbers, or to mappings from targets to numbers.
    node, value : name or position of a column, optional
        Columns of a table; several targets are a list of columns.
    names : sequence, optional
        Names that the targets have already; otherwise they are numbered from 0.

    Examples
    --------
    >>> from gradraker.graph.target_values import split_targets
    >>> split_targets({"a": [1.0, 5.0], "b": None}).columns
    [{'a': 1.0, 'b': nan}, {'a': 5.0, 'b': nan}]
    >>> split_targets({"a": {"age": 40.0}, "b": {"age": 30.0, "income": 9.0}}).names
    ['age', 'income']
    >>> split_targets({"a": 1.0}) is None
    True
    """
    if isinstance(value, list | tuple):
        columns = [select_columns(values, node=node, value=one, task="values") for one in value]
        if len(set(value)) < len(value) or not value:
            raise ValueError(f"value must name different columns, got {list(value)!r}")
        return Targets(list(value), columns)
    if isinstance(values, Mapping):
        entries = [entry for entry in values.values() if entry is not None]
        if entries and all(isinstance(entry, Mapping) for entry in entries):
            return _split_mappings(values, names)
        if entries and all(isinstance(entry, list | tuple | np.ndarray) for entry in entries):
            return _split_vectors(values, names)
        return None
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return Targets(
            _name_targets(values.shape[1], names),
            [np.ascontiguousarray(column) for column in values.T],
        )
    return None


def _split_mappings(values: Mapping[Hashable, Any], names: Sequence[Hashable]) -> Targets:
    found = dict.fromkeys(names)
    for entry in values.values():
        found |= dict.fromkeys(entry or ())
    columns = [
        {node: (entry or {}).get(name, np.nan) for node, entry in values.items()} for name in found
    ]
    return Targets(list(found), columns)


def _split_vectors(values: Mapping[Hashable, Any], names: Sequence[Hashable]) -> Targets:
    vectors = {
        node: None if entry is None else np.asarray(entry, dtype=np.float64)
        for node, entry in values.items()
    }
    shapes = {vector.shape for vector in vectors.values() if vector is not None}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        raise ValueError(
            f"values holds vectors of the shapes {sorted(shapes)}: give one number per target, NaN "
            "where it is unknown"
        )
    ((n_targets,),) = shapes
    unknown = np.full(n_targets, np.nan)
    columns = [
        {node: float((unknown if v is None else v)[j]) for node, v in vectors.items()}
        for j in range(n_targets)
    ]
    return Targets(_name_targets(n_targets, names), columns)


def _name_targets(n_targets: int, names: Sequence[Hashable]) -> list[Hashable]:
    return list(names) if len(names) == n_targets else list(range(n_targets))
