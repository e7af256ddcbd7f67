"""
What would change without this value?
=====================================

Weights also show how much the predictions depend on one known value. ``forget`` removes it as if
the model had never learned it; the difference is its effect.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeRegressor, load_temperature
from gradraker.datasets import split_nodes

data = load_temperature("jan")
names = np.array(data.node_names)
altitude, east, north = data.positions.T
known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(1))
model = NodeRegressor(reselect="doubled")
model.fit(data, dict(zip(names[known], data.values[known], strict=True)))

explanation = model.explain(names[unknown])
influence = np.abs(explanation.weights).sum(axis=0)  # over the unknown stations
top = int(influence.argmax())
station = explanation.known_names[top]

before = model.predict(names[unknown])
model.forget(values=[station])
after = model.predict(names[unknown])

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
limit = np.abs(after - before).max()
points = ax.scatter(
    east[unknown],
    north[unknown],
    c=after - before,
    s=60,
    cmap="PuOr",
    vmin=-limit,
    vmax=limit,
    edgecolor="0.4",
)
ax.scatter(east[known], north[known], s=12, color="0.75", label="known")
here = names == station
ax.plot(east[here], north[here], "*", color="black", markersize=18, label=station)
ax.set(xticks=[], yticks=[], aspect="equal", title=f"Predictions without the value of {station}")
ax.legend()
figure.colorbar(points, label="change in °C")
plt.show()

# %%
# The five stations whose predictions depend most on that value.

changed = np.argsort(-np.abs(after - before))[:5]
for i in changed:
    print(f"{names[unknown][i]:28s} {before[i]:6.2f} → {after[i]:6.2f} °C")
