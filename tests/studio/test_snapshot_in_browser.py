"""A snapshot in a real browser, without a server."""

from pathlib import Path
from typing import Any

import pytest

from studio_service import Watched, save

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.slow]


def test_snapshot_opens_without_a_server(
    demo: Any, look: Any, chromium: Any, tmp_path: Path
) -> None:
    page = look(demo, "node=Davos&colour=error&s2=20&e=4")
    page.wait_for_selector("#sum")
    sum_here = float(page.get_attribute("#sum", "data-sum"))
    file = save(page, "#share-file", tmp_path)
    watched = Watched(chromium.new_context(offline=True), "file:")
    alone = watched.open(file.as_uri())
    alone.wait_for_selector("#sum")
    assert float(alone.get_attribute("#sum", "data-sum")) == pytest.approx(sum_here)
    assert alone.input_value("#colour") == "error"
    alone.fill("#search", "Arosa")
    alone.keyboard.press("Enter")
    alone.wait_for_selector("#panel-title:has-text('Arosa')")
    alone.wait_for_selector("#sum")
    alone.click("#tab-sigma2")
    alone.wait_for_selector("#rules button")
    before = alone.get_attribute("#gnmse", "data-value")
    assert "20" in alone.input_value("#sigma2-number")
    alone.focus("#sigma2")
    for _ in range(20):
        alone.keyboard.press("ArrowLeft")
    alone.wait_for_timeout(200)
    assert alone.get_attribute("#gnmse", "data-value") != before
    alone.click("#tab-stream")
    alone.click("#step")
    alone.wait_for_selector("#arrivals tr")
    alone.click("#tab-table")
    alone.wait_for_selector("#rows tr")
    watched.close()
