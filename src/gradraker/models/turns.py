"""Calls on one model: threads take turns, and a call that raises leaves the model as it was."""

import os
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M")


class Turn:
    """The lock of one model. A thread that has it may take it again."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        _turns.add(self)


_turns: "weakref.WeakSet[Turn]" = weakref.WeakSet()


def _unlock_all() -> None:
    """Free all locks: in a child process the threads that held them do not exist."""
    for turn in list(_turns):
        turn.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)


class TakesTurns:
    """Base of models: each public method and property waits until no other thread is in one.

    Private methods do not wait; a subclass need not do anything. Copies and pickled models get
    locks of their own.
    """

    __slots__ = ("_turn",)  # not among the attributes, which copies and files take over

    _turn: Turn

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a model that no thread uses yet."""
        model = super().__new__(cls)
        model._turn = Turn()
        return model

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in list(vars(cls).items()):
            if name.startswith("_"):
                continue
            if isinstance(member, FunctionType):
                setattr(cls, name, take_turns(member))
            elif isinstance(member, property) and isinstance(member.fget, FunctionType):
                setattr(cls, name, member.getter(take_turns(member.fget)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes; a copy gets a lock of its own."""
        # Not that of scikit-learn, which adds a version for its own estimators only.
        return dict(vars(self))


T = TypeVar("T", bound=TakesTurns)


def take_turns(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Make a method wait until no other thread is in one of the same model."""

    @wraps(method)
    def call(model: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with model._turn.lock:
            return method(model, *args, **kwargs)

    if not isinstance(method, FunctionType) or not isinstance(call, FunctionType):
        return call
    # With the globals of the method, by which doctest knows where a function is defined.
    bound = FunctionType(
        call.__code__, method.__globals__, call.__name__, call.__defaults__, call.__closure__
    )
    return wraps(method)(bound)


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
