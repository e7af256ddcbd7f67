"""The HTTP API of a live service."""

from gradraker.live.api.app import make_app

__all__ = ["make_app"]
