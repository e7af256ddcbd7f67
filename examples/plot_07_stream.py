"""
How quickly does a stream learn?
================================

Nodes arrive one after another, each with its edges to 200 fixed places. Every value is
predicted before it is learned, so the errors are out-of-sample. Two learners get the same stream:
SKG and the running mean. Half-way the values change sign.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import SKGRegressor
from gradraker.datasets import make_geometric_graph

data = make_geometric_graph(1700, radius=0.15, random_state=0)
places = [f"place {i}" for i in range(200)]  # the first 200 nodes are the places
values = data.values[200:] - data.values.mean()
values[750:] *= -1  # the values change sign

stream = SKGRegressor(sigma2=6.0, learning_rate=0.2, keep_known=False, random_state=0)
errors = {"SKG": [], "running mean": []}
total = 0.0
for node in range(values.size):
    row = data.adjacency[[200 + node], :200]
    neighbours = [places[place] for place in row.indices]
    prediction = stream.learn_one(neighbours, values[node])  # predicted before it learned
    errors["SKG"].append((values[node] - prediction) ** 2)
    errors["running mean"].append((values[node] - total / max(node, 1)) ** 2)
    total += values[node]

figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
window = np.ones(60) / 60
for (name, squares), colour in zip(errors.items(), ("#2166ac", "0.6"), strict=True):
    smooth = np.sqrt(np.convolve(squares, window, mode="valid"))
    ax.plot(np.arange(smooth.size) + 60, smooth, color=colour, label=name)
ax.axvline(750, color="#b2182b", linestyle=":", label="high becomes low")
ax.set(xlabel="nodes learned", ylabel="root mean squared error of the last 60")
ax.set_ylim(bottom=0)
ax.legend()
plt.show()

# %%
# SKG needs a few hundred nodes to learn the neighbourhoods. After the change its errors
# jump, and fall again without a restart: recent values count more than old ones. The size of
# the model does not grow with the length of the stream (:doc:`/tutorials/stream`).
