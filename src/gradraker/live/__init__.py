"""A service that learns while it serves predictions, and a client for it.

``gradraker serve`` starts the service; it needs the extra ``serve``. The client,
``gradraker.live.connect(url)``, needs no extra. Only the command line imports this folder.
"""

from gradraker.live.client import Client, Kept, connect

__all__ = ["Client", "Kept", "connect"]
