"""
Do similar nodes count more?
============================

SKG's prediction is a sum of values, each with a contribution weight F. The similarity measure B
says how similar two nodes are. The paper's *conformity*: recent steps have F near B, older ones
are overwritten.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import SKGRegressor, load_temperature
from gradraker.datasets import split_nodes

data = load_temperature("jan")
names = np.array(data.node_names)
known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
X = data.adjacency[:, known]
model = SKGRegressor(sigma2=5.0, n_epochs=3, random_state=0).fit(X[known], data.values[known])
explanation = model.explain(X[unknown], node_names=names[unknown], known_names=names[known])
davos = list(names[unknown]).index("Davos")

# %%
# Both against time, for Davos. Weights far from the noise around zero belong to similar stations
# that were learned recently.

figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
explanation.plot(davos, ax=ax)
plt.show()

# %%
# All known nodes by their distance from Davos: those inside the circle count.

figure, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
explanation.plot_nodes(davos, ax=ax)
plt.show()

# %%
# The prediction is exactly the sum of weights times values.

print(np.abs(explanation.weights @ data.values[known] - model.predict(X[unknown])).max())
