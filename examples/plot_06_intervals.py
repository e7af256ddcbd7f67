"""
Can I trust the intervals?
==========================

``predict(return_interval=True)`` says how far off a prediction may be. Intervals of coverage
0.9 should contain nine of ten true values, not fewer, and be narrow where much is known.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeRegressor, load_temperature
from gradraker.datasets import make_geometric_graph, split_nodes

data = load_temperature("jan")
names = np.array(data.node_names)
altitude = data.positions[:, 0]
known, unknown = split_nodes(data.n_nodes, 0.5, np.random.default_rng(2))
model = NodeRegressor().fit(data, dict(zip(names[known], data.values[known], strict=True)))
predictions, intervals = model.predict(names[unknown], return_interval=True, coverage=0.9)

order = np.argsort(altitude[unknown])
inside = (intervals[:, 0] <= data.values[unknown]) & (data.values[unknown] <= intervals[:, 1])
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
heights = altitude[unknown][order]
ax.vlines(heights, *intervals[order].T, color="#2166ac", alpha=0.35, linewidth=4)
ax.plot(heights, predictions[order], "_", color="#2166ac", label="predicted, with 90 % interval")
for mask, marker, label in ((inside, "o", "true value inside"), (~inside, "X", "outside")):
    ax.plot(
        altitude[unknown][mask],
        data.values[unknown][mask],
        marker,
        color="0.2" if marker == "o" else "#b2182b",
        markersize=4 if marker == "o" else 8,
        label=f"{label}: {mask.sum()}",
    )
ax.set(xlabel="altitude in m", ylabel="January temperature in °C")
ax.legend()
plt.show()

# %%
# One split proves little. Over many coverages and splits of two graphs, the share of
# true values inside should lie on the diagonal.

figure, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
coverages = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
for graph, colour in ((data, "#2166ac"), (make_geometric_graph(200, random_state=1), "#e08214")):
    nodes = np.array(graph.node_names)
    shares = []
    for repeat in range(8):
        known, unknown = split_nodes(graph.n_nodes, 0.5, np.random.default_rng(repeat))
        model = NodeRegressor().fit(
            graph, dict(zip(nodes[known], graph.values[known], strict=True))
        )
        row = []
        for coverage in coverages:
            _, ends = model.predict(nodes[unknown], return_interval=True, coverage=coverage)
            truth = graph.values[unknown]
            row.append(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
        shares.append(row)
    ax.plot(coverages, np.mean(shares, axis=0), "o-", color=colour, label=graph.name)
ax.plot([0.5, 1], [0.5, 1], ":", color="0.5")
ax.set(xlabel="requested coverage", ylabel="share of true values inside", aspect="equal")
ax.legend()
plt.show()
