"""
Which kernel wins?
==================

A bank holds several kernels and learns online which of them to trust. Weights start equal; members
with larger errors lose weight. Here five variances from the boundaries of the four ranges compete.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import GradrakerRegressor, gnmse, load_temperature
from gradraker.datasets import split_nodes

data = load_temperature("jan")
y = data.scale_values()
known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
X = data.adjacency[:, known]
model = GradrakerRegressor(kernels="ranges", n_epochs=10, keep_weights=True, random_state=0)
model.fit(X[known], y[known])
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
model.plot_weights(ax=ax)
plt.show()

# %%
# Is the mix any better than its members? The bars show the error of each member alone on unknown
# stations; the line is the bank.

explanation = model.explain(X[unknown])
errors = [gnmse(y[unknown], row) for row in explanation.member_predictions]
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
labels = [member.label for member in model.members_]
ax.bar(labels, errors, color="#67a9cf", label="a member alone")
ax.axhline(gnmse(y[unknown], model.predict(X[unknown])), color="#e08214", label="the bank")
ax.set(yscale="log", ylabel="GNMSE on unknown stations")
ax.legend()
plt.show()

# %%
# The bank is about as good as its best member without knowing beforehand which one that is;
# its additional loss is bounded (:doc:`/theory/many-kernels`).
print(
    f"lost so far: {model.loss_ - model.member_losses_.min():.4f}, bound {model.regret_bound_:.2f}"
)
