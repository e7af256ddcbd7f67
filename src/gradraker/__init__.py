"""Predict unknown node values on a graph, online, and explain every prediction.

Names are loaded when they are first used, so that ``import gradraker`` is quick
and loads neither the compiled loops nor any plotting. ``__init__.pyi`` lists them.
"""

import lazy_loader

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
