"""Worker processes end with the process that started them, however that one ends."""

import os
import threading
import time
from functools import cache

_SECONDS = 0.5


@cache
def end_with_parent(parent: int) -> None:
    """End this process soon after its parent, if ``parent`` is the number of that process.

    A worker that waits for its next task does not notice that nobody will send one. Called in
    another process, such as the one that sends the tasks or a worker of a cluster, it does nothing.
    """
    if os.getppid() == parent:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)  # also out of a loop that runs without the lock of Python
