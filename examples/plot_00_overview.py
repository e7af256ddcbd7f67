"""
What does gradraker do, in one picture?
=======================================

89 weather stations in Switzerland, joined where their altitudes are similar. The January
temperature is known at 36 of them. The others are predicted, and every prediction says which
known values it comes from.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import load_temperature, predict_nodes
from gradraker.datasets import split_nodes

data = load_temperature("jan")
names = np.array(data.node_names)
altitude, east, north = data.positions.T
known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
result = predict_nodes(data, dict(zip(names[known], data.values[known], strict=True)))
predicted = dict(zip(result.nodes, result.predictions, strict=True))

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
look = {"cmap": "coolwarm", "vmin": -10, "vmax": 3, "edgecolor": "0.25", "linewidth": 0.6}

# Left: the known values.
left.scatter(east[unknown], north[unknown], s=44, marker="$?$", color="0.55")
left.scatter(east[known], north[known], c=data.values[known], s=75, **look)
left.set_title("A graph, and some known values", fontsize=13)

# In the middle: the other nodes.
guesses = np.array([predicted[name] for name in names[unknown]])
middle.scatter(east[known], north[known], c=data.values[known], s=16, alpha=0.45, **look)
points = middle.scatter(east[unknown], north[unknown], c=guesses, s=70, marker="D", **look)
middle.set_title("The others, predicted", fontsize=13)
figure.colorbar(points, ax=middle, label="January temperature in °C", shrink=0.8)

# Right: why, for one of them.
explanation = result.explain(["Davos"])
here = names == "Davos"
right.scatter(east, north, s=12, color="0.82")
reasons = explanation.top(4)
for _, row in reasons.iterrows():
    there = names == row.known_node
    ends = [east[here][0], east[there][0]], [north[here][0], north[there][0]]
    colour = "#2166ac" if row.weight > 0 else "#e08214"
    right.plot(*ends, color=colour, linewidth=1 + 12 * abs(row.weight), alpha=0.55)
    right.scatter(east[there], north[there], c=[row.value], s=80, zorder=3, **look)
right.scatter(
    east[here], north[here], c=explanation.prediction, s=150, marker="D", zorder=4, **look
)
listed = "\n".join(
    f"{weight:.2f} × {value:.1f} °C  {name}"
    for weight, value, name in zip(
        reasons.weight, reasons.value, reasons.known_node.str.split(",").str[0], strict=True
    )
)
error = result.model.left_out_error_
captions = {
    left: f"{len(known)} of {data.n_nodes} weather stations are known;\n"
    "edges join stations of similar altitude.",
    middle: f"Error of known stations, left out one at a time:\n{error.rmse:.1f} °C; "
    f"{error.rmse_of_mean:.1f} °C if all got the mean.",
    right: f"{listed}\n+ …",
}
right.set_title(f"Why? Davos: {explanation.prediction[0]:.1f} °C", fontsize=13)
for ax in (left, middle, right):
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.margins(0.05, 0.06)
    ax.spines[:].set_visible(False)
    ax.text(0.02, -0.03, captions[ax], transform=ax.transAxes, va="top", fontsize=10.5)
plt.show()

# %%
# Three lines did the work: ``predict_nodes`` on the graph and the known values, and
# ``result.explain``. The graph has no coordinates; they are used to draw the map only.
# Temperatures: MeteoSwiss, CC BY 4.0.
