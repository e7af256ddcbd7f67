"""
Which stations predict Jungfraujoch?
====================================

A prediction of a node model is a weighted sum of known values, and the weights are exact. Here all
January temperatures are known except that of Jungfraujoch, at 3571 m the highest station. Which
stations does its prediction depend on?
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeRegressor, load_temperature

data = load_temperature("jan")
names = np.array(data.node_names)
altitude, east, north = data.positions.T
known = dict(zip(data.node_names, data.values, strict=True))
truth = known.pop("Jungfraujoch")

model = NodeRegressor().fit(data, known)
explanation = model.explain(["Jungfraujoch"])
print(explanation)

# %%
# The map has a line to each of the ten stations with the largest weights. They are not the nearest
# ones: the graph joins stations of similar altitude, so mountains are predicted from mountains.
# Nearly all of the weight is on Piz Corvatsch, the second highest. Blue lines have positive
# weights, orange ones negative.

here = names == "Jungfraujoch"
figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
points = ax.scatter(east, north, c=data.values, cmap="coolwarm", s=40, edgecolor="0.3", zorder=3)
for _, row in explanation.top(10).iterrows():
    there = names == row.known_node
    ax.plot(
        [east[here][0], east[there][0]],
        [north[here][0], north[there][0]],
        color="#2166ac" if row.weight > 0 else "#e08214",
        linewidth=2 + 12 * abs(row.weight),
        alpha=0.6,
    )
    if abs(row.weight) > 0.04:
        label = f"{row.known_node} {row.weight:+.2f}"
        end = (east[there][0], north[there][0])
        ax.annotate(label, end, xytext=(0, 9), textcoords="offset points", ha="center")
ax.plot(east[here], north[here], "*", color="black", markersize=18, zorder=4)
ax.set(xticks=[], yticks=[], aspect="equal")
ax.set_title(f"Jungfraujoch: predicted {explanation.prediction[0]:.1f} °C, measured {truth:.1f} °C")
figure.colorbar(points, label="January temperature in °C", shrink=0.7)
plt.show()

# %%
# The same weights as bars, drawn by the explanation itself. The prediction is too warm:
# no known station is nearly as high, and a weighted sum of warmer values cannot extrapolate to
# higher altitudes.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
explanation.plot(ax=ax)
plt.show()
