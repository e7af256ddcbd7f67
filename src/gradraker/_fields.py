"""Put the descriptions of fields, which are in their annotations, into docstrings."""

from inspect import cleandoc
from types import UnionType
from typing import Any, TypeVar, get_args

C = TypeVar("C")


def describe_fields(cls: type[C]) -> type[C]:
    """Add a section on fields to the docstring of a class, before its examples.

    Examples
    --------
    >>> from typing import Annotated
    >>> from gradraker._fields import describe_fields
    >>> @describe_fields
    ... class Station:
    ...     '''A weather station.'''
    ...
    ...     altitude: Annotated[float, "Metres above the sea."]
    >>> Station.__doc__.splitlines()[2:]
    ['Attributes', '----------', 'altitude : float', '    Metres above the sea.']
    """
    fields = [
        f"{name} : {_format_type(hint.__origin__)}\n    {text}"
        for name, hint in cls.__annotations__.items()
        for text in getattr(hint, "__metadata__", ())
    ]
    if fields:
        about, examples, rest = cleandoc(cls.__doc__ or "").partition("\n\nExamples\n")
        listed = "\n".join(["Attributes", "----------", *fields])
        cls.__doc__ = f"{about}\n\n{listed}{examples}{rest}"
    return cls


def _format_type(hint: Any) -> str:
    """Return the name of a type without the types of its items; types of a union once each."""
    parts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    names = [getattr(part, "__name__", str(part)).replace("NoneType", "None") for part in parts]
    return " or ".join(dict.fromkeys(names))
