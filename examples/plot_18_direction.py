"""
Does the direction of edges matter?
===================================

In a graph of citations, "cites" and "is cited by" mean different things. ``direction`` selects
which edges describe a node.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeRegressor
from gradraker.datasets import make_block_graph, make_preferential_graph, split_nodes

graphs = (
    make_preferential_graph(300, n_links=3, directed=True, random_state=1),
    make_block_graph(300, directed=True, random_state=1),
)
directions = ("both", "out", "in")
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, data in zip(axes, graphs, strict=True):
    names = np.array(data.node_names)
    errors = []
    for direction in directions:
        found = []
        for repeat in range(4):
            known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
            model = NodeRegressor(direction=direction)
            model.fit(data, dict(zip(names[known], data.values[known], strict=True)))
            residuals = data.values[unknown] - model.predict(names[unknown])
            found.append(np.sqrt(np.mean(residuals**2)) / data.values.std())
        errors.append(found)
    ax.boxplot(errors, tick_labels=directions)
    ax.axhline(1, color="0.6", linestyle=":")
    ax.set(title=data.name, xlabel="direction", ylabel="error / error of the mean")
    ax.set_ylim(bottom=0)
plt.show()

# %%
# In the preferential graph every node links to three older ones, so the number of outgoing
# edges carries no information; incoming ones show how popular a node is. ``"both"``, the
# default, uses both and does best on either graph.
