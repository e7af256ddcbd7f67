"""The start of the learning process, and what both processes do with their channel."""

import os
import socket
from multiprocessing.connection import Connection

from gradraker.live.settings import Settings


def start_learner(settings: Settings, channel: Connection) -> None:
    """Run the learning process; the process that starts it does not load what this one needs."""
    from gradraker.live.learning.learner import run_learner

    run_learner(settings, channel)


def send_descriptor(channel: Connection, descriptor: int) -> None:
    """Hand an open file to the process at the other end, after a message that announces it."""
    with socket.socket(fileno=os.dup(channel.fileno())) as end:
        socket.send_fds(end, [b"f"], [descriptor])


def receive_descriptor(channel: Connection) -> int:
    """Return the open file that was announced."""
    with socket.socket(fileno=os.dup(channel.fileno())) as end:
        _, descriptors, _, _ = socket.recv_fds(end, 1, 1)
    if not descriptors:
        raise EOFError("the other process is gone")
    return descriptors[0]
