import pytest

from small_datasets import register


@pytest.fixture
def small(monkeypatch):
    """Fetchers expect the small files; the fixture changes what they expect of them."""
    return register(monkeypatch)
