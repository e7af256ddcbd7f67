"""
How many known nodes are enough?
================================

Measuring costs money. This learning curve shows the gain from each further known station,
and how far the model's own estimate of its error, from left-out known nodes, can be trusted.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import NodeRegressor, load_temperature
from gradraker.datasets import split_nodes

data = load_temperature("jan")
names = np.array(data.node_names)
counts = [5, 8, 12, 18, 27, 40, 60]
measured, estimated, mean = [], [], []
for count in counts:
    errors = []
    for repeat in range(6):
        known, unknown = split_nodes(
            data.n_nodes, count / data.n_nodes, np.random.default_rng([count, repeat])
        )
        values = dict(zip(names[known], data.values[known], strict=True))
        model = NodeRegressor().fit(data, values)
        residuals = data.values[unknown] - model.predict(names[unknown])
        by_mean = data.values[unknown] - data.values[known].mean()
        guess = model.left_out_error_.rmse
        errors.append([np.sqrt(np.mean(residuals**2)), guess, np.sqrt(np.mean(by_mean**2))])
    for line, values in zip((measured, estimated, mean), np.transpose(errors), strict=True):
        line.append(values)

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for line, label, style in (
    (mean, "predicting the mean", {"color": "0.6", "linestyle": ":"}),
    (measured, "node model, on unknown stations", {"color": "#2166ac", "marker": "o"}),
    (estimated, "its own estimate, from known stations", {"color": "#e08214", "marker": "s"}),
):
    ax.plot(counts, [np.mean(values) for values in line], label=label, **style)
low, high = np.transpose([(np.min(values), np.max(values)) for values in measured])
ax.fill_between(counts, low, high, color="#2166ac", alpha=0.15, label="from best to worst draw")
ax.set_xscale("log")
ax.set_xticks(counts, [str(count) for count in counts])
ax.minorticks_off()
ax.set(
    xlabel="stations with a known temperature, of 89",
    ylabel="root mean squared error in °C",
    title="Gain from further measurements",
)
ax.set_ylim(bottom=0)
ax.legend()
plt.show()

# %%
# A handful of stations is enough to beat the mean; after about thirty the curve is nearly flat,
# since altitude does not determine temperature completely. The estimate needs no held-out
# stations: leaving one out at a time has a closed form (:doc:`/theory/leave-one-out`). With fewer
# than twenty known values it is optimistic, because the same values were used to choose the kernel.
