"""
What happens to predictions as σ² grows?
========================================

The kernel variance σ² determines how different two nodes may be and still count for each other. The
paper divides its values into four ranges, and a model behaves differently in each.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import SKGRegressor, gnmse, load_temperature, sigma2_ranges
from gradraker.datasets import split_nodes

data = load_temperature("jan")
altitude = data.positions[:, 0]
known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(4))
X = data.adjacency[:, known]
ranges = sigma2_ranges(X[known])
print(ranges)

# %%
# One variance in each range: below the smallest distance that counts, at the boundary where all
# nodes begin to count, in the middle of the disturbing range, and far beyond.

chosen = {
    "chaos": ranges.chaos_extending / 8,
    "extending": ranges.extending_disturbing,
    "disturbing": np.sqrt(ranges.extending_disturbing * ranges.disturbing_averaging),
    "averaging": ranges.disturbing_averaging * 20,
}
figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), sharex=True, sharey=True, layout="constrained")
for ax, (name, sigma2) in zip(axes.flat, chosen.items(), strict=True):
    model = SKGRegressor(sigma2=sigma2, n_epochs=10, random_state=0)
    model.fit(X[known], data.values[known])
    predictions = model.predict(X[unknown])
    error = gnmse(data.values[unknown], predictions)
    ax.plot(altitude[unknown], data.values[unknown], "o", color="0.75", label="measured")
    ax.plot(altitude[unknown], predictions, "x", color="#2166ac", label="predicted")
    ax.set_title(f"{name}: σ² = {sigma2:.3g}, GNMSE {error:.2f}")
axes[0, 0].legend()
figure.supxlabel("altitude in m")
figure.supylabel("January temperature in °C")
plt.show()

# %%
# In chaos most predictions are near zero: only nodes with exactly the same neighbours count. In the
# extending range similar nodes count and the curve follows the altitude. In the disturbing range
# all nodes count, so the curve flattens, and in the averaging range it is constant.
# :doc:`/theory/ranges` has the equations.
