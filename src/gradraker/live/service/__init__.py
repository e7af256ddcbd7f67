"""The service behind the HTTP API: threads that write, predict and publish states."""

from gradraker.live.service.service import NotReadyError, Service
from gradraker.live.service.writer import NotKeptError, TooBusyError

__all__ = ["NotKeptError", "NotReadyError", "Service", "TooBusyError"]
