"""What the fields of a class are is said in their annotations, from where docstrings get it."""

from inspect import cleandoc
from typing import TypeVar

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
        f"{name} : {getattr(hint.__origin__, '__name__', hint.__origin__)}\n    {text}"
        for name, hint in cls.__annotations__.items()
        for text in getattr(hint, "__metadata__", ())
    ]
    if fields:
        about, examples, rest = cleandoc(cls.__doc__ or "").partition("\n\nExamples\n")
        listed = "\n".join(["Attributes", "----------", *fields])
        cls.__doc__ = f"{about}\n\n{listed}{examples}{rest}"
    return cls
