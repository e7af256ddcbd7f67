"""Data frames as tables of edges and values."""

import pandas as pd
import pytest

from gradraker import adjacency_vectors, predict_nodes
from gradraker.exceptions import UnclearTableError


def test_frames_follow_the_same_rules() -> None:
    frame = pd.DataFrame({"time": [1, 2], "sender": ["a", "b"], "receiver": ["b", "c"]})
    assert adjacency_vectors(frame).nodes.tolist() == ["a", "b", "c"]
    values = pd.DataFrame({"k": ["a", "c"], "p": [1, 2], "q": [3, 4], "r": [5, 6]})
    with pytest.raises(UnclearTableError, match="value could be 'p', 'q' or 'r'"):
        predict_nodes(frame, values, node="k")
    found = predict_nodes(frame, values, node="k", value="r")
    assert found.values.tolist()[0] == 5.0
