from collections.abc import Callable
from typing import Any

import pytest

from small_datasets import register


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Fetchers expect the small files; the fixture changes what they expect of them."""
    return register(monkeypatch)
