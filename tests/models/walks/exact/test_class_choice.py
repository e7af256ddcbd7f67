"""Attributes and walks for classes: used where they help."""

import numpy as np
import pytest

from attribute_examples import (
    SOLVERS,
    make_classes,
    uses_attributes,
)
from gradraker import NodeClassifier
from gradraker.datasets import make_block_graph


@pytest.mark.parametrize("differs", [False, True], ids=["alike", "differ"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_words_help_classes_whether_neighbours_are_alike_or_differ(
    solver: str, differs: bool
) -> None:
    A, codes, words = make_classes(differs)
    known = {int(i): int(codes[i]) for i in range(60)}
    model = NodeClassifier(solver=solver).fit(A, known, attributes=words)
    plain = NodeClassifier(solver=solver).fit(A, known)
    others = np.arange(60, 240)
    assert uses_attributes(model)
    assert model.score(others, codes[others]) > 0.85
    assert model.score(others, codes[others]) > plain.score(others, codes[others]) - 0.02


def test_words_that_are_noise_do_not_hurt_classes() -> None:
    A, codes, words = make_classes(differs=False)
    shuffled = words[np.random.default_rng(0).permutation(240)]
    known = {int(i): int(codes[i]) for i in range(90)}
    others = np.arange(90, 240)
    model = NodeClassifier().fit(A, known, attributes=shuffled)
    plain = NodeClassifier().fit(A, known)
    assert model.score(others, codes[others]) >= plain.score(others, codes[others]) - 0.04


def test_few_classes_are_predicted_by_region_and_community() -> None:
    data = make_block_graph(400, n_blocks=4, p_in=0.1, p_out=0.005, random_state=0)
    classes = np.floor(3.99 * data.scale_values()).astype(int)
    known = np.array([np.flatnonzero(classes == c)[0] for c in np.unique(classes)])
    labels = np.full(400, None, dtype=object)
    labels[known] = classes[known]
    model = NodeClassifier(random_state=0).fit(data.adjacency, labels, kind="matrix")
    assert set(model.blocks_) == {"community", "far"}
    unknown = np.delete(np.arange(400), known)
    # One node of each class is known, so that none can be left out; the mean would say the same
    # of all nodes.
    assert np.mean(model.predict(unknown.tolist()) == classes[unknown]) > 0.9
