"""The one door upwards: methods that hand out what a layer above makes.

Data flows one way and imports point down. A user still expects ``model.explain(X)`` and
``explanation.plot()``, though explanations are made above learners and plots above both.
Such methods are a single call through :func:`call`, which looks the function up by
name when it is used, so that no module depends on a layer above it.
"""

from importlib import import_module
from typing import Any


def call(home: str, function: str, *args: Any, **kwargs: Any) -> Any:
    """Call ``function`` of the module ``gradraker.<home>``."""
    return getattr(import_module(f"gradraker.{home}"), function)(*args, **kwargs)
