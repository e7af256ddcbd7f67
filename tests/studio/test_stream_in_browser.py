"""A stream of known values in a real browser: each predicted before it is learned."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeRegressor
from gradraker.studio import make_demo
from studio_service import StudioService

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.slow]


def test_replay_steps_pauses_and_counts_errors(demo: Any, look: Any) -> None:
    page = look(demo, "view=stream")
    page.wait_for_selector("text=33 to come", timeout=60_000)
    page.click("#step")
    page.focus("#step")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=2 arrived, 31 to come")
    answer = demo.ask("studio/api/replay?seed=0").json()
    first = answer["arrivals"][:2]
    rows = page.eval_on_selector_all(
        "#arrivals tr", "rows => rows.map(row => row.children[0].textContent)"
    )
    assert rows == [first[1][0], first[0][0]]
    expected = np.sqrt(np.mean([(p - v) ** 2 for _, v, p, _ in first]))
    assert float(page.get_attribute("#stream-score", "data-model")) == pytest.approx(expected)
    by_mean = np.sqrt(np.mean([(m - v) ** 2 for _, v, _, m in first]))
    assert float(page.get_attribute("#stream-score", "data-mean")) == pytest.approx(by_mean)
    page.select_option("#speed", label="fast")
    page.click("#play")
    page.wait_for_selector("text=33 arrived", timeout=30_000)
    assert page.inner_text("#play") == "Play"
    worst = max(answer["arrivals"], key=lambda one: abs(one[2] - one[1]))[0]
    assert page.inner_text("#surprises tr:first-child th") == worst
    page.click("#restart")
    page.wait_for_selector("text=0 arrived, 33 to come")


def test_replay_predicts_before_it_learns(demo: Any) -> None:
    model, _ = make_demo()
    answer = demo.ask("studio/api/replay?seed=0").json()
    order = np.random.default_rng(0).permutation(np.flatnonzero(np.isfinite(model.values_)))
    first = {model.nodes_[i]: model.values_[i] for i in order[: answer["n_first"]].tolist()}
    learner = NodeRegressor().fit(model.adjacency_, first, names=model.nodes_, directed=False)
    for name, value, predicted, mean in answer["arrivals"][:5]:
        assert predicted == pytest.approx(float(learner.predict([name])[0]), abs=1e-9)
        assert mean == pytest.approx(float(learner.known_values_.mean()))
        learner.partial_fit(values={name: value})


@pytest.fixture
def changed_demo() -> Any:
    """A demo of its own, for a test that leaves it changed."""
    with StudioService("--demo") as service:
        yield service


def test_values_arrive_step_by_step(changed_demo: Any, look: Any) -> None:
    page = look(changed_demo, "view=stream&source=live")
    page.wait_for_selector("text=0 arrived")
    page.click("#step")
    page.wait_for_selector("#arrivals tr", timeout=30_000)
    page.wait_for_selector("text=1 arrived")
