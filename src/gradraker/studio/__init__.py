"""The studio: a page to explore a model of graphs and try changes.

``gradraker studio`` opens it, and ``gradraker serve`` serves it at ``/studio``. Everything on the
page comes from the live service or from a small API under ``/studio/api``; the page loads nothing
from elsewhere. It needs the extra ``studio``.
"""

from gradraker.studio.answers.graph_parts import find_coordinates
from gradraker.studio.routes import add_studio, serve_studio
from gradraker.studio.studio_options import StudioOptions, describe_stations, make_demo

__all__ = [
    "StudioOptions",
    "add_studio",
    "describe_stations",
    "find_coordinates",
    "make_demo",
    "serve_studio",
]
