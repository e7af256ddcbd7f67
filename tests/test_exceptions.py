"""Errors keep their facts and their sentences where processes pass them on."""

import pickle
from typing import Any

import pytest

from gradraker import exceptions
from gradraker.exceptions import Place

FACTS: dict[str, tuple[Any, ...]] = {
    "ArgumentError": ("n_epochs", "an integer of at least 1", 0),
    "ArgumentTypeError": ("n_epochs", "an integer of at least 1", "many"),
    "DeviceMemoryError": ("cuda", 10, 20, 10**9, 2 * 10**9),
    "GraphFileError": (Place("edges.csv", line=3), "'x' is not a number"),
    "JournalError": ("live.db", "is a database of another program"),
    "LiveRequestError": (422, "values must be numbers", {"values": "must be numbers"}),
    "ModelFileChangedError": ("model.gr",),
    "NegativeWeightError": (-1.0, "ignore weights"),
    "NoDeviceError": ("CuPy is not installed",),
    "NoWorkerError": (0.5,),
    "NotHeldError": ("nodes", "c", "is not in the graph"),
    "SweepError": ("all nodes have the same edges", {"fraction": "raise"}),
    "SweepFileError": ("sweep.jsonl", "is damaged"),
    "TooFewValuesError": ("1 value is known", "and 2 are needed", "give more values", ("sigma2",)),
    "UnclearTableError": (Place("known.csv"), "the value could be 'a' or 'b'", ("value",)),
    "UnknownFigureError": ("fig9", ("fig1", "fig2")),
    "UnknownNodesError": ("values", ["c"], "leave them out", 3),
}


@pytest.mark.parametrize("name", FACTS)
def test_error_survives_pickling(name: str) -> None:
    error = getattr(exceptions, name)(*FACTS[name])
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_every_error_with_facts_is_pickled_here() -> None:
    classes = [kind for kind in vars(exceptions).values() if isinstance(kind, type)]
    with_facts = {kind.__name__ for kind in classes if "__init__" in vars(kind)}
    # Made by the writer of files in its own process.
    assert with_facts - {"FieldError", "Place", "PartlyWrittenError"} <= FACTS.keys()


def test_error_given_by_names_survives_pickling() -> None:
    error = exceptions.SweepFileError(file="sweep.jsonl", problem="is damaged")
    assert str(pickle.loads(pickle.dumps(error))) == "'sweep.jsonl' is damaged"
