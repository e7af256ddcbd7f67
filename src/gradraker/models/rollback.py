"""A call that raises leaves the model as it was."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M")


def rollback_on_error(
    method: Callable[Concatenate[M, P], R],
) -> Callable[Concatenate[M, P], R]:
    """Make a method that trains take effect completely or, if it raises, not at all.

    Attributes are restored, and the table of frequencies drops the nodes it gained. Arrays
    are not copied: the method must change them last, or replace them.
    """

    @wraps(method)
    def call(model: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = vars(model).copy()
        table = before.get("_table")
        n_references = 0 if table is None else len(table)
        try:
            return method(model, *args, **kwargs)
        except BaseException:
            for name in vars(model).keys() - before.keys():
                del vars(model)[name]
            vars(model).update(before)
            if table is not None:
                table.drop_from(n_references)
            raise

    return call
