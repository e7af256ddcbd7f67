"""Names and labels in files of models of graphs."""

from pathlib import Path

import numpy as np
import pytest

from gradraker import NodeClassifier


def test_names_and_labels_of_all_kinds_come_back(tmp_path: Path) -> None:
    edges = [("a", ("b", 1)), (("b", 1), 2.5), (2.5, b"c"), ("a", 7)]
    labels = {"a": "x", 2.5: ("y", 2), 7: 3}
    model = NodeClassifier().fit(edges, labels)
    again = NodeClassifier.load(model.save(tmp_path / "model.skg"))
    assert again.nodes_.tolist() == model.nodes_.tolist()
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_allclose(again.predict_proba(), model.predict_proba(), atol=1e-12)


def test_a_label_that_a_file_cannot_hold_is_named(tmp_path: Path) -> None:
    model = NodeClassifier().fit([("a", "b"), ("b", "c")], {"a": frozenset([1]), "b": "x"})
    with pytest.raises(TypeError, match=r"label frozenset\(\{1\}\) is of type frozenset"):
        model.save(tmp_path / "model.skg")
