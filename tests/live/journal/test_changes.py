"""The effect of changes taken together."""

from gradraker.live.journal.changes import Change, compute_effect


def test_compute_effect_combines_changes() -> None:
    effect = compute_effect(
        [
            Change("put_edge", "a", "b", 1.0),
            Change("put_edge", "a", "b", 2.0),
            Change("put_edge", "c", "a", 1.0),
            Change("put_value", "a", value=1.0),
            Change("remove_value", "b"),
            Change("put_value", "b", value=2.0),
            Change("put_attributes", "a", value={"x": 1}),
            Change("remove_node", "c"),
            Change("remove_edge", "a", "d"),
        ]
    )
    assert effect.edges == {("a", "b"): 2.0}
    assert effect.values == {"a": 1.0, "b": 2.0}
    assert list(effect.nodes) == ["a", "b"]
    assert list(effect.forgotten_nodes) == ["c"]
    assert list(effect.forgotten_edges) == [("a", "d")]
    assert not effect.forgotten_values
    twice = [Change("put_value", "a", value=1), Change("put_value", "a", value=2)]
    assert compute_effect(twice).values == {"a": 2}
    again = compute_effect([Change("remove_node", "c"), Change("put_edge", "c", "a", 1.0)])
    assert list(again.forgotten_nodes) == ["c"]  # its old edges and value are gone
    assert again.edges == {("c", "a"): 1.0}
