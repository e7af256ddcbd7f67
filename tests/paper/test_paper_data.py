"""The paper's data sets."""

from typing import Any

import numpy as np

from gradraker.paper import DATA
from gradraker.paper.paper_data import compute_checksum, describe_source, load_data


def test_checksums_tell_data_apart(small: Any) -> None:
    whole = compute_checksum(small.adjacency, small.values)
    assert whole == compute_checksum(small.adjacency.astype(np.float32), small.values)
    assert whole != compute_checksum(small.adjacency, None)
    assert whole != compute_checksum(small.adjacency.T.tocsr(), small.values)
    assert whole != compute_checksum(small.adjacency, small.values + 1.0)


def test_missing_data_are_described_with_how_to_get_them(no_data: None) -> None:
    for key in ("cora", "email", "wikipedia"):
        assert load_data(key, download=False) is None
        text = describe_source(key)
        assert f"gradraker data fetch {DATA[key].info.name}" in text
        assert "https://" in text
        assert "GRADRAKER_DATA" in text
