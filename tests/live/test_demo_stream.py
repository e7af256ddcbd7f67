"""The stream of the demonstration."""

from itertools import islice

from gradraker.live.demo_stream import N_KNOWN_AT_FIRST, list_submissions, make_demo_model


def test_stations_arrive_one_by_one_then_the_next_month() -> None:
    n = len(make_demo_model().nodes_)
    first, second = list(islice(list_submissions(), n)), list(islice(list_submissions(), n, n + 2))
    nodes = [one.changes[0].node for one in first]
    assert len(set(nodes)) == n
    assert {one.op for one in second[0].changes} == {"put_value", "remove_value"}
    assert len(second[0].changes) == n
    assert sum(one.op == "put_value" for one in second[0].changes) == N_KNOWN_AT_FIRST
    assert len(second[1].changes) == 1
    assert make_demo_model().known_nodes_.size == N_KNOWN_AT_FIRST
