"""
What if some edges are wrong?
=============================

Real graphs have edges that should not be there, and lack others. Here a growing share of the
edges of a graph is moved to random places. How much does a model tolerate?
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from gradraker import NodeRegressor, SKGNodeRegressor
from gradraker.datasets import make_geometric_graph, split_nodes

data = make_geometric_graph(250, radius=0.13, random_state=0)
names = np.array(data.node_names)


def move_edges(adjacency, share, rng):
    """A copy in which a share of the undirected edges joins two random nodes instead."""
    source, target = sp.triu(adjacency, 1).coords
    moved = rng.random(source.size) < share
    source = np.where(moved, rng.integers(0, adjacency.shape[0], source.size), source)
    target = np.where(moved, rng.integers(0, adjacency.shape[0], source.size), target)
    return [(names[i], names[j]) for i, j in zip(source, target, strict=True) if i != j]


shares = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0]
models = {"node model": NodeRegressor, "SKG": SKGNodeRegressor}
errors = {name: [] for name in [*models, "the mean"]}
for share in shares:
    rows = {name: [] for name in errors}
    for repeat in range(3):
        rng = np.random.default_rng([repeat, int(100 * share)])
        edges = move_edges(data.adjacency, share, rng)
        known, unknown = split_nodes(data.n_nodes, 0.4, rng)
        values = dict(zip(names[known], data.values[known], strict=True))
        truth = data.values[unknown]
        for name, kind in models.items():
            model = kind().fit([*edges, *((node, node) for node in names)], values)
            rows[name].append(np.sqrt(np.mean((truth - model.predict(names[unknown])) ** 2)))
        rows["the mean"].append(np.sqrt(np.mean((truth - data.values[known].mean()) ** 2)))
    for name, found in rows.items():
        errors[name].append(np.mean(found))

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for (name, line), style in zip(errors.items(), ("o-", "s-", ":"), strict=True):
    ax.plot(100 * np.array(shares), line, style, label=name)
ax.set(xlabel="edges that were moved, in %", ylabel="root mean squared error", ylim=(0, None))
ax.legend()
plt.show()

# %%
# With a quarter of its edges wrong, the node model is still far better than the mean. When
# all are random the graph carries no information, and the model falls back to the mean.
