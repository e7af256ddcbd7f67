"""
Where does label propagation fail, and why?
===========================================

Label propagation gives a node the classes of its neighbours. That works where neighbours are
similar, and fails where they differ: buyers and sellers, words and their grammar, predators and
prey. A node model compares where walks lead, and can give a neighbour a negative weight.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeClassifier
from gradraker.datasets import make_block_graph, split_nodes


def propagate(adjacency, labels, known, n_classes, steps=50):
    """Label propagation: repeatedly take the neighbours' classes; known classes are fixed."""
    start = np.zeros((adjacency.shape[0], n_classes))
    start[known, labels[known]] = 1.0
    degree = np.maximum(adjacency.sum(axis=1), 1.0)
    scores = start.copy()
    for _ in range(steps):
        scores = adjacency @ scores / degree[:, np.newaxis]
        scores[known] = start[known]
    return scores.argmax(axis=1)


# %%
# Graphs of three groups with the same number of edges, from "all edges inside a group" to "all
# edges between groups"; a fifth of the classes is known.

shares = np.linspace(0.0, 1.0, 9)
accuracy = {"label propagation": [], "node model": []}
for share in shares:
    data = make_block_graph(
        300, n_blocks=3, p_in=0.16 * share, p_out=0.08 * (1 - share), random_state=3
    )
    groups = data.positions[:, 0].astype(int)
    known, unknown = split_nodes(data.n_nodes, 0.2, np.random.default_rng(0))
    found = propagate(data.adjacency, groups, known, 3)
    accuracy["label propagation"].append(np.mean(found[unknown] == groups[unknown]))
    names = np.array(data.node_names)
    labels = dict(zip(names[known], groups[known].tolist(), strict=True))
    model = NodeClassifier().fit(data, labels)
    predicted = model.predict(names[unknown])
    accuracy["node model"].append(np.mean(predicted == groups[unknown]))

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for (name, values), colour in zip(accuracy.items(), ("#e08214", "#2166ac"), strict=True):
    ax.plot(100 * shares, values, "o-", color=colour, label=name)
ax.axhline(1 / 3, color="0.6", linestyle=":", label="by chance")
ax.set(
    xlabel="from edges between groups (0) to edges within groups (100)",
    ylabel="share of unknown nodes classified correctly",
    title="The same groups, with neighbours that differ or agree",
)
ax.legend()
plt.show()

# %%
# At a third, edges carry no information about groups, and no method can beat chance. On
# the left, label propagation does *worse* than chance: every neighbour votes for the wrong class.
# The node model compares nodes by walks of several lengths and gives neighbours negative weights
# if the known nodes suggest it; without enough evidence it falls back to chance.
