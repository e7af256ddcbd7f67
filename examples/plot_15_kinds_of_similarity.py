"""
Near neighbours, region or degree: what makes a prediction?
===========================================================

A node model compares nodes in several ways at once. Each prediction is the mean of the known
values plus one part for each kind of similarity, and the parts are exact.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeRegressor, load_temperature
from gradraker.datasets import make_preferential_graph, split_nodes

figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
for ax, data in zip(
    axes, (load_temperature("jan"), make_preferential_graph(300, random_state=0)), strict=True
):
    names = np.array(data.node_names)
    known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
    model = NodeRegressor().fit(data, dict(zip(names[known], data.values[known], strict=True)))
    explanation = model.explain(names[unknown])
    order = np.argsort(explanation.prediction)
    parts = explanation.parts[order]  # [nodes, kinds]
    position = np.arange(len(order))
    for sign in (1, -1):
        bottom = np.zeros(len(order))
        for k, (name, colour) in enumerate(
            zip(explanation.part_names, ("#2166ac", "#e08214", "#7fbf7b", "#762a83"), strict=False)
        ):
            part = np.where(sign * parts[:, k] > 0, parts[:, k], 0.0)
            label = name if sign == 1 else None
            ax.bar(position, part, bottom=bottom, width=1, color=colour, label=label)
            bottom += part
    ax.plot(position, parts.sum(axis=1), color="black", linewidth=1.5, label="together")
    ax.set(title=data.name, xlabel="unknown nodes, by prediction", ylabel="added to the mean")
    ax.legend()
plt.show()

# %%
# For the temperatures both count: the number of stations at an altitude (degrees) roughly
# gives the altitude of a station, near neighbours give the rest. In the preferential
# graph values follow degrees, and the model finds that without being told.
