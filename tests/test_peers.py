"""Peers of the benchmark are tuned on known nodes only, and absent ones are named."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import node_signals
import peers
from gradraker.datasets import make_geometric_graph

DATA = make_geometric_graph(60, radius=0.25, random_state=0)
KNOWN, UNKNOWN = np.arange(0, 60, 2), np.arange(1, 60, 2)


@pytest.mark.parametrize(
    "peer",
    [peers.mean, peers.skg("theory", 20, 0.1), peers.kernel_ridge, peers.gaussian_process],
    ids=["mean", "skg", "kernel ridge", "gaussian process"],
)
def test_a_peer_looks_at_known_values_only(peer: Callable[..., Any]) -> None:
    hidden = DATA.scale_values().copy()
    hidden[UNKNOWN] = np.nan
    seen = peer(DATA.adjacency, hidden, KNOWN, UNKNOWN)
    np.testing.assert_array_equal(seen, peer(DATA.adjacency, DATA.scale_values(), KNOWN, UNKNOWN))
    assert np.isfinite(seen).all()


def test_tuning_takes_the_setting_with_the_smallest_error_on_left_out_known_nodes() -> None:
    y = np.arange(60.0)
    predicted_nodes = []

    def off_by(A: Any, y: Any, known: Any, unknown: Any, *, error: Any) -> Any:
        predicted_nodes.append(unknown)
        return y[unknown] + error

    found = peers.tuned(off_by, {"error": (3.0, -1.0, 2.0)})(csr_array((60, 60)), y, KNOWN, UNKNOWN)
    np.testing.assert_array_equal(found, y[UNKNOWN] - 1.0)
    assert all(np.isin(nodes, KNOWN).all() for nodes in predicted_nodes[:-1])


def test_absent_packages_are_named_and_their_peers_left_out() -> None:
    candidates = {
        "here": peers.PackagedPeer(peers.mean),
        "away": peers.PackagedPeer(peers.mean, "no_such_package"),
    }
    assert peers.missing(candidates) == ["no_such_package"]
    assert list(peers.present(candidates)) == ["here"]


def test_made_values_lie_between_0_and_1_and_alternate_where_they_say_so() -> None:
    made = node_signals.not_smooth(49, 0)
    for graph, values in made.values():
        assert graph.shape == (values.size, values.size)
        assert values.min() == 0.0
        assert values.max() == 1.0
    graph, values = made["grid, signs alternate"]
    first, second = graph.nonzero()
    assert ((values[first] > 0.5) != (values[second] > 0.5)).all()
