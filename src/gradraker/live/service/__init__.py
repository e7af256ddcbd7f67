"""What happens behind the API of a live service."""

from gradraker.live.service.service import NotReadyError, Service
from gradraker.live.service.writer import NotKeptError, TooBusyError

__all__ = ["NotKeptError", "NotReadyError", "Service", "TooBusyError"]
