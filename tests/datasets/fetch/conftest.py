from collections.abc import Callable
from typing import Any

import pytest

from small_datasets import register


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make fetchers expect the small files; returns a function that changes their facts."""
    return register(monkeypatch)
