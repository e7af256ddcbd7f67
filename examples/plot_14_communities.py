"""
How sure is the model of a class?
=================================

Four groups, a few known members of each. ``NodeClassifier`` predicts the group of every
other node and how sure it is. Are its probabilities calibrated?
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeClassifier
from gradraker.datasets import make_geometric_graph, split_nodes

data = make_geometric_graph(400, radius=0.09, random_state=2)
x, height = data.positions.T
quarter = np.where(x > 0.5, "east", "west").astype(object)
groups = np.where(height > 0.5, "north-", "south-").astype(object) + quarter
names = np.array(data.node_names)
known, unknown = split_nodes(data.n_nodes, 0.06, np.random.default_rng(5))
model = NodeClassifier().fit(data, dict(zip(names[known], groups[known].tolist(), strict=True)))
probabilities = model.predict_proba(names)
predicted = model.classes_[probabilities.argmax(axis=1)]
right = np.mean(predicted[unknown] == groups[unknown])

figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
colours = dict(zip(model.classes_, ("#2166ac", "#67a9cf", "#b2182b", "#f4a582"), strict=True))
source, target = data.adjacency.nonzero()
ax.plot([x[source], x[target]], [height[source], height[target]], color="0.9", linewidth=0.5)
sizes = 8 + 90 * (probabilities.max(axis=1) - 0.25)
ax.scatter(x, height, s=sizes, c=[colours[name] for name in predicted], zorder=2)
ax.scatter(x[known], height[known], s=110, facecolors="none", edgecolors="black", zorder=3)
ax.set(xticks=[], yticks=[], aspect="equal")
ax.set_title(f"{len(known)} known nodes (rings), {right:.0%} of the others right; size: how sure")
plt.show()

# %%
# Between the groups nodes are small: the model is unsure there. Of nodes that get a
# probability of about p, a share of about p should be right. One split has too few nodes to check
# that: here are ten splits with a fifth of the nodes known.

sure, hits = [], []
for repeat in range(10):
    known, unknown = split_nodes(data.n_nodes, 0.2, np.random.default_rng(repeat))
    model = NodeClassifier().fit(data, dict(zip(names[known], groups[known].tolist(), strict=True)))
    probabilities = model.predict_proba(names[unknown])
    sure.append(probabilities.max(axis=1))
    hits.append(model.classes_[probabilities.argmax(axis=1)] == groups[unknown])
sure, hits = np.concatenate(sure), np.concatenate(hits)
bins = np.linspace(0.25, 1, 9)
bin_numbers = np.clip(np.digitize(sure, bins) - 1, 0, len(bins) - 2)
filled = [b for b in range(len(bins) - 1) if (bin_numbers == b).sum() >= 20]
figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.plot([0.25, 1], [0.25, 1], ":", color="0.5")
ax.plot(
    [sure[bin_numbers == b].mean() for b in filled],
    [hits[bin_numbers == b].mean() for b in filled],
    "o-",
    color="#2166ac",
)
ax.set(
    xlabel="probability of the predicted class",
    ylabel="share of correct predictions",
    aspect="equal",
)
plt.show()
