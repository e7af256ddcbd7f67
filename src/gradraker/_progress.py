"""Progress of long work, told to whoever watches; nobody by default."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Stage, how much is done, and of how much.
Watcher = Callable[[str, int, int], object]
_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watch_progress(watcher: Watcher) -> Iterator[None]:
    """Call ``watcher(stage, done, total)`` while long work goes on in this context.

    Node models tell the stages of a fit: kernels that are compared, known nodes that are walked
    from, the residual of a solve. What the watcher raises stops the work, and the model stays as
    it was.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import watch_progress
    >>> data = load_temperature()
    >>> stages = set()
    >>> with watch_progress(lambda stage, done, total: stages.add(stage)):
    ...     model = NodeRegressor(solver="operators").fit(data, data.values)
    >>> sorted(stages)
    ['choosing a kernel', 'solving', 'walking from known nodes']
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def tell_progress(stage: str, done: int, total: int) -> None:
    """Tell the watcher, if there is one."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(stage, done, total)
