"""Numbers of nodes that a page colours by."""

import numpy as np
import pytest

from gradraker.studio.answers.node_columns import average_columns

pytest.importorskip("igraph", reason="the extra 'studio' is not installed")


def test_most_common_class_of_a_community() -> None:
    columns = {
        "prediction": np.array([0.0, 1.0, 1.0, 2.0, -1.0]),
        "probability": np.array([0.5, 0.7, 0.9, 1.0, 0.2]),
    }
    found = average_columns(columns, np.array([0, 0, 0, 1, 2]), 3)
    assert found["prediction"].tolist() == [1.0, 2.0, -1.0]
    np.testing.assert_allclose(found["probability"], [0.7, 1.0, 0.2])
