"""Live: a service that learns while it serves, and a client for it.

``gradraker serve`` starts the service; it needs the extra ``serve``. The client needs nothing
but the library: ``gradraker.live.connect(url)``. Nothing else in the library imports this folder.
"""

from gradraker.live.client import Client, Kept, connect

__all__ = ["Client", "Kept", "connect"]
