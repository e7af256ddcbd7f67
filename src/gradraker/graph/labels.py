"""Labels of classes: recognise them, and put them in the order of the nodes of a graph."""

from collections.abc import Hashable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import UnknownNodesError
from gradraker.graph.adapters.columns import Task
from gradraker.graph.adapters.tables import ValueTable
from gradraker.graph.names import Names, check_same_type, find_positions
from gradraker.graph.values import ValueKind, get_value_names, select_columns


def find_task(values: Any, *, node: Hashable = None, value: Hashable = None) -> Task:
    """Return whether values are numbers or labels of classes: texts and categories are labels.

    Examples
    --------
    >>> from gradraker.graph.labels import find_task
    >>> find_task({"a": 1.5, "b": 2.0}), find_task({"a": "red", "b": None})
    ('values', 'classes')
    >>> find_task({"a": "red", "b": 2})
    Traceback (most recent call last):
    ValueError: values holds the text 'red' and the number 2: pass task='classes' if ...
    """
    chosen = select_columns(values, node=node, value=value)
    if isinstance(chosen, ValueTable):
        return "classes" if chosen.is_text else "values"
    column = nw.from_native(chosen, series_only=True, pass_through=True)
    dtype = column.dtype if isinstance(column, nw.Series | np.ndarray) else None
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return "values"
    if isinstance(dtype, nw.dtypes.DType) and (dtype.is_numeric() or dtype == nw.Boolean):
        return "values"
    # An array of pandas, as frame["class"].values is one, is not a series.
    if dtype in (nw.Categorical, nw.Enum) or str(getattr(chosen, "dtype", "")) == "category":
        return "classes"
    given = [label for label in map(_to_plain_label, _list_labels(chosen)) if label is not None]
    number = next((entry for entry in given if isinstance(entry, int | float)), None)
    other = next((entry for entry in given if not isinstance(entry, int | float)), None)
    if number is not None and other is not None:
        raise ValueError(
            f"values holds the text {other!r} and the number {number!r}: pass task='classes' if "
            "all of them are labels, or give numbers only"
        )
    return "values" if other is None else "classes"


def align_labels(values: Any, nodes: Names) -> NDArray[np.object_]:
    """Return the label of each node, None where it is unknown; NaN counts as unknown."""
    names = get_value_names(values)
    labels = [_to_plain_label(label) for label in _list_labels(values)]
    if names is None:
        if len(labels) != len(nodes):
            raise ValueError(
                f"values has {len(labels)} labels, but there are {len(nodes)} nodes: give one "
                "label per node, None where it is unknown, or a mapping from nodes to labels"
            )
        return to_object_array(labels)
    rows = find_positions(names, nodes)
    if np.any(rows < 0):
        check_same_type(names[rows < 0], nodes, argument="values")
        raise UnknownNodesError(
            "values", names[rows < 0].tolist(), "leave them out, or add them to the graph"
        )
    aligned: list[Hashable] = [None] * len(nodes)
    for i, label in zip(rows.tolist(), labels, strict=True):
        if aligned[i] is not None and label is not None and aligned[i] != label:
            raise ValueError(
                f"node {nodes[i]!r} has two labels, {aligned[i]!r} and {label!r}: give one"
            )
        aligned[i] = label if label is not None else aligned[i]
    return to_object_array(aligned)


def _list_labels(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    entries = values.entries if isinstance(values, ValueTable) else values
    column = nw.from_native(entries, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return column.to_list()
    # Arrays of NumPy, pandas and Arrow, which are not series, have their own method.
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _to_plain_label(label: Any) -> Hashable:
    """Return a label as its Python type, None if it is missing."""
    if isinstance(label, np.generic):
        label = label.item()
    # pandas.NA first, which refuses to be compared.
    if label is None or type(label).__name__ in ("NAType", "NaTType") or label != label:
        return None
    try:
        hash(label)
    except TypeError:
        raise TypeError(
            f"values holds the label {label!r} of type {type(label).__name__}, but labels must be "
            "hashable"
        ) from None
    return label  # type: ignore[no-any-return]


def sort_labels(labels: list[Hashable]) -> list[Hashable]:
    """Return the distinct labels: sorted if possible, else in the order of their first use."""
    distinct_labels = list(dict.fromkeys(labels))
    try:
        return sorted(distinct_labels)  # type: ignore[type-var]
    except TypeError:
        return distinct_labels


def encode_labels(labels: list[Hashable], classes: list[Hashable]) -> NDArray[np.int64]:
    """Return the number of each label among classes."""
    number = {label: i for i, label in enumerate(classes)}
    return np.array([number[label] for label in labels], dtype=np.int64)


def to_label_array(labels: list[Any]) -> NDArray[Any]:
    """Return labels as an array: int64 if all are integers that fit, else Python objects."""
    if labels and all(type(label) is int and -(2**63) <= label < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64)
    return to_object_array(labels)


def to_object_array(labels: list[Any]) -> NDArray[np.object_]:
    """Return an array of Python objects."""
    return np.fromiter(labels, dtype=object, count=len(labels))


LABELS = ValueKind("classes", None, np.dtype(object), align_labels)
