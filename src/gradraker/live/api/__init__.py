"""The HTTP API of a live service."""

from gradraker.live.api.app import AddRoutes, make_app

__all__ = ["AddRoutes", "make_app"]
