"""Predict unknown node values on a graph, online, and explain every prediction.

Names are loaded when they are first used, so that ``import gradraker`` is quick
and loads neither the compiled loops nor any plotting. ``__init__.pyi`` lists them.
"""

import os
import sys

# When run as a command, Ctrl-C exits with code 130 from the start; see ``__main__``.
if sys.orig_argv[1:3] == ["-m", "gradraker"] or os.path.basename(sys.argv[0]) == "gradraker":
    import signal

    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import lazy_loader

try:  # written from the tag when the package is built or installed
    from gradraker._version import __version__
except ImportError:  # sources that were never built, with or without an installation beside them
    from importlib.metadata import PackageNotFoundError, version

    try:
        __version__ = version("gradraker")
    except PackageNotFoundError:
        __version__ = "0.0.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
