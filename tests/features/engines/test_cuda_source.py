"""CUDA sources: how columns are shared among the lanes of a warp."""

from gradraker.features.engines.cuda_source import ENTRIES, list_names


def test_lanes_of_a_row_fit_into_a_warp() -> None:
    assert all(32 % (c * e) == 0 for c, e in ENTRIES.items())
    assert len(set(list_names("double", 2).values())) == 2 * len(ENTRIES)
