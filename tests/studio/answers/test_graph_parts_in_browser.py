"""Graphs that are too large to draw: an overview by communities, and parts."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeRegressor
from studio_service import StudioService

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.slow]

N, SIZE = 12_000, 300


@pytest.fixture(scope="module")
def large(tmp_path_factory: Any) -> Any:
    """Forty communities of 300 nodes; the value of a node is the number of its community."""
    rng = np.random.default_rng(0)
    source = rng.integers(0, N, 50_000)
    target = source // SIZE * SIZE + rng.integers(0, SIZE, source.size)
    far = rng.random(source.size) < 0.02
    target[far] = rng.integers(0, N, int(far.sum()))
    known = {int(i): float(i // SIZE) for i in rng.permutation(N)[:300]}
    model = NodeRegressor(blocks=["degree"], width=1.0, alpha=1.0)
    model.fit(np.stack([source, target], axis=1), known, nodes=range(N), directed=False)
    file = model.save(tmp_path_factory.mktemp("large") / "model.gr")
    with StudioService("--model", file) as service:
        yield service


def test_overview_opens_a_community_and_goes_back(large: Any, look: Any) -> None:
    page = look(large)
    assert "overview of 40 communities" in page.inner_text("#facts")
    place = page.evaluate(
        """async () => {
        const { graph, getPicture } = await import("./studio/graph_view.js");
        const { view } = getPicture();
        const box = document.getElementById("overlay").getBoundingClientRect();
        return [box.left + (graph.scene.x[3] - view.cx) * view.scale + view.width / 2,
                box.top + (graph.scene.y[3] - view.cy) * view.scale + view.height / 2];
    }"""
    )
    page.mouse.click(*place)
    page.wait_for_selector("#facts:has-text('community 4: ')")
    assert "part=community" in page.evaluate(
        "() => new Promise(done => setTimeout(() => done(location.hash), 300))"
    )
    names = page.evaluate(
        """async () => (await import("./studio/graph_view.js")).graph.scene.names"""
    )
    assert 200 < len(names) <= 2000
    communities = [int(name) // SIZE for name in names]
    assert np.mean(np.array(communities) == np.median(communities)) > 0.9
    page.click("#overview")
    page.wait_for_selector("#facts:has-text('overview')")


def test_search_shows_the_surroundings_of_a_node(large: Any, look: Any) -> None:
    page = look(large)
    page.fill("#search", "11999")
    page.wait_for_selector("#matches li[id]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#facts:has-text('nodes around one')")
    page.wait_for_selector("#sum")
    assert page.inner_text("#panel-title") == "11999"
    page.click("#tab-table")
    page.wait_for_selector("#rows tr")


def test_overview_is_coloured_by_means(large: Any, look: Any) -> None:
    page = look(large)
    for kind in ("value", "prediction", "error", "uncertainty"):
        page.select_option("#colour", kind)
        page.wait_for_timeout(300)
        assert page.get_attribute("#legend", "aria-label").count("from") == 1
    page.focus("#overlay")
    page.keyboard.press("ArrowRight")
    assert "community" in page.inner_text("#spoken")
    page.keyboard.press("Enter")
    page.wait_for_selector("#facts:has-text('community')")
