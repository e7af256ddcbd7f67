"""
What do two hops show that one does not?
========================================

An adjacency vector lists the neighbours of a node. Two nodes without a common neighbour look
unrelated, even if all their neighbours are linked. Walks of two or three edges reach further, up to
the point where every node reaches every other.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import GradrakerRegressor, SKGRegressor, adjacency_vectors, gnmse
from gradraker.datasets import make_geometric_graph, split_nodes
from gradraker.graph import hop_views

data = make_geometric_graph(300, radius=0.12, random_state=4)
y = data.scale_values()
errors = {hops: [] for hops in (1, 2, 3, 5, 8)}
banks = []
for repeat in range(6):
    known, unknown = split_nodes(data.n_nodes, 0.3, np.random.default_rng(repeat))
    for hops, found in errors.items():
        rows = adjacency_vectors(data, hops=hops, hop_weights="binary").rows
        model = SKGRegressor(n_epochs=10, random_state=0).fit(rows[known], y[known])
        found.append(gnmse(y[unknown], model.predict(rows[unknown])))
    views = hop_views(data, hops=3, hop_weights="binary")
    bank = GradrakerRegressor(kernels="ranges", views=views.views, n_epochs=10, random_state=0)
    bank.fit(views.rows[known], y[known], references=views.references)
    banks.append(gnmse(y[unknown], bank.predict(views.rows[unknown], references=views.references)))

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
hops = list(errors)
ax.errorbar(
    hops,
    [np.mean(found) for found in errors.values()],
    [np.std(found) for found in errors.values()],
    marker="o",
    capsize=3,
    color="#2166ac",
    label="SKG on walks of k edges",
)
ax.axhline(np.mean(banks), color="#e08214", label="a bank over 1, 2 and 3 hops")
ax.set(xlabel="edges of a walk, k", ylabel="GNMSE on unknown nodes", xticks=hops)
ax.legend()
plt.show()

# %%
# Nodes that walks of one, two and five edges reach from a corner.

figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
x, height = data.positions.T
corner = int(np.argmin(x + height))
for ax, k in zip(axes, (1, 2, 5), strict=True):
    row = adjacency_vectors(data, hops=k, hop_weights="binary").rows[[corner]].toarray()[0]
    ax.scatter(x, height, s=12, c=np.where(row > 0, "#2166ac", "#d0d0d0"))
    ax.plot(x[corner], height[corner], "*", color="#e08214", markersize=14)
    reached = int((row > 0).sum())
    ax.set(title=f"k = {k}: {reached} nodes", xticks=[], yticks=[], aspect="equal")
plt.show()
