"""The base of all models: write one to a file, and restore it from one."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gradraker._files import is_stream, write_file
from gradraker._locks import TakesTurns, lock_file
from gradraker._validation import Bounds, check_bounds
from gradraker.exceptions import ModelFileChangedError, ModelFileError
from gradraker.models.persistence.archive import (
    ModelContent,
    read_archive,
    read_digest,
    write_archive,
)
from gradraker.models.persistence.names_as_json import decode_name, encode_name

Arrays = dict[str, NDArray[Any]]
State = dict[str, Any]


class SavableModel(TakesTurns, BaseEstimator):
    """Base of all models: they are used by one thread at a time, and have files."""

    # Smallest and largest value of each parameter that is a number.
    bounds: ClassVar[Bounds]
    seed_: int

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        notes: dict[str, Any] | None = None,
        only_if_unchanged: bool = False,
    ) -> Path:
        """Write the model to a file, complete or not at all, without pickle.

        The file holds everything that the model has learned; :func:`gradraker.load` reads it. A
        ``random_state`` that is a generator is saved as the seed that was drawn from it.

        Parameters
        ----------
        path : path-like
            Where to write; an older file is replaced.
        notes : dict, optional
            Further facts to keep in the file: anything that JSON can hold.
            :func:`gradraker.models.read_notes` returns it.
        only_if_unchanged : bool, default=False
            Whether to raise :class:`gradraker.exceptions.ModelFileChangedError` if another
            program has written the file since this model was loaded from it or saved to it.

        Returns
        -------
        Path
        """
        self._check_savable()
        return save_model(self, path, notes, self.dump_state, only_if_unchanged=only_if_unchanged)

    def write_to(self, file: BinaryIO, *, notes: dict[str, Any] | None = None) -> None:
        """Write the model to an open binary file, as :meth:`save` does to a path."""
        self._check_savable()
        _write_model(self, file, notes, self.dump_state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that :meth:`save` wrote; it continues training bit for bit."""
        return restore_model(cls, path, read_archive(path))

    def _check_savable(self) -> None:
        """Refuse a model that is not fitted, or whose parameters are invalid."""
        raise NotImplementedError

    def dump_state(self) -> tuple[State, Arrays]:
        """Return the state and arrays of a file, besides the parameters."""
        raise NotImplementedError

    @classmethod
    def from_state(cls, parameters: dict[str, Any], state: State, arrays: Arrays) -> Self:
        """Make the model that a file describes."""
        raise NotImplementedError


M = TypeVar("M", bound=SavableModel)
# Returns the state and arrays of a file, besides the parameters.
Dump = Callable[[], tuple[State, Arrays]]


def _write_model(
    model: SavableModel, file: BinaryIO, notes: dict[str, Any] | None, dump: Dump
) -> str:
    """Write a fitted model to an open file; return a digest of it."""
    check_bounds(model.bounds, model.get_params(deep=False))
    state, arrays = dump()
    content = {
        "class": type(model).__name__,
        "parameters": _dump_parameters(model),
        "state": state,
        "notes": notes or {},
    }
    return write_archive(file, content, arrays)


def save_model(
    model: SavableModel,
    path: str | os.PathLike[str],
    notes: dict[str, Any] | None,
    dump: Dump,
    *,
    only_if_unchanged: bool,
) -> Path:
    """Write a fitted model to a file, one process at a time, and remember its digest.

    With ``only_if_unchanged``, the file must be unchanged since the model was loaded from it or
    last saved to it; if it was neither, the file must not exist.
    """
    with nullcontext() if is_stream(path) else lock_file(path):
        if only_if_unchanged and read_digest(path) != _get_digests(model).get(
            os.path.realpath(path)
        ):
            raise ModelFileChangedError(os.fspath(path))
        digests: list[str] = []
        written = write_file(
            path, lambda file: digests.append(_write_model(model, file, notes, dump))
        )
    _remember(model, path, digests[0])
    return written


def _get_digests(model: SavableModel) -> Mapping[str, str]:
    """Return the digests of the files that a model was loaded from or saved to, by path."""
    digests: Mapping[str, str] = vars(model).get("_digests", {})
    return digests


def _remember(model: SavableModel, path: str | os.PathLike[str], digest: str) -> None:
    model.__dict__["_digests"] = {**_get_digests(model), os.path.realpath(path): digest}


def restore_model(cls: type[M], path: str | os.PathLike[str], content: ModelContent) -> M:
    """Make the model of class ``cls`` that a file describes, or raise an error naming the file."""
    header = content.header
    with wrap_load_errors(path):
        if header["class"] != cls.__name__:
            raise ValueError(f"it holds a model of class {header['class']!r}")
        parameters = {name: _from_json(item) for name, item in header["parameters"].items()}
        check_bounds(cls.bounds, parameters)
        model: M = cls.from_state(parameters, header["state"], content.arrays)
        _remember(model, path, content.digest)
        return model


@contextmanager
def wrap_load_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn every error into one that names the file: a file can hold anything."""
    try:
        yield
    except Exception as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be read: {repr(error)[:500]}") from None


def _dump_parameters(model: SavableModel) -> dict[str, Any]:
    """Return parameters as JSON can hold them; a random generator becomes its seed."""
    parameters = {name: _to_json(value) for name, value in model.get_params(deep=False).items()}
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
