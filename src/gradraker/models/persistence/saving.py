"""The one way to write a model to a file and to make it from one again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import ModelFileError
from gradraker.models.persistence.archive import read_model, write_model
from gradraker.models.persistence.names_as_json import decode_name, encode_name

Arrays = dict[str, NDArray[Any]]
State = dict[str, Any]


class Savable(Protocol):
    """A model that can be saved: it has parameters and a seed, and is made from a state."""

    seed_: int

    def get_params(self) -> dict[str, Any]:
        """Return the parameters, as scikit-learn does."""

    @classmethod
    def from_state(cls, parameters: dict[str, Any], state: State, arrays: Arrays) -> Any:
        """Make the model that a file describes."""


M = TypeVar("M", bound=Savable)


def save_model(
    model: Savable,
    path: str | os.PathLike[str],
    state: State,
    arrays: Arrays,
    notes: dict[str, Any] | None,
) -> Path:
    """Write a fitted model; ``state`` and ``arrays`` are what its ``from_state`` takes."""
    return write_model(
        path,
        kind=type(model).__name__,
        parameters=_dump_parameters(model),
        state=state,
        notes=notes or {},
        arrays=arrays,
    )


def read_model_of(cls: type[M], path: str | os.PathLike[str]) -> M:
    """Load a model of one class from its file."""
    return restore_model(cls, path, *read_model(path))


def restore_model(
    cls: type[M], path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays
) -> M:
    """Make the model of class ``cls`` that a file describes, or refuse the file by name."""
    with wrap_load_errors(path):
        if header["class"] != cls.__name__:
            raise ValueError(f"it holds a model of class {header['class']!r}")
        parameters = {name: _from_json(item) for name, item in header["parameters"].items()}
        model: M = cls.from_state(parameters, header["state"], arrays)
        return model


@contextmanager
def wrap_load_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn every error into one that names the file: a file can hold anything."""
    try:
        yield
    except Exception as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be read: {error!r}") from None


def _dump_parameters(model: Savable) -> dict[str, Any]:
    """Return parameters as JSON can hold them; a random generator becomes its seed."""
    parameters = {name: _to_json(value) for name, value in model.get_params().items()}
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = model.seed_
    return parameters


def _to_json(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): _to_json(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return [_to_json(entry) for entry in value]
    return encode_name(value) if isinstance(value, bytes) else value


def _from_json(item: Any) -> Any:
    if isinstance(item, list):
        return tuple(_from_json(entry) for entry in item)
    if isinstance(item, dict) and set(item) == {"bytes"}:
        return decode_name(item)
    return item


def check_int(name: str, value: Any, *, most: float = np.inf, least: int = 0) -> int:
    """Return an integer of a file that lies between two others."""
    if type(value) is int and least <= value <= most:
        return value
    raise ValueError(f"{name} is {value!r}")
