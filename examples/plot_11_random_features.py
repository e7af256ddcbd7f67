"""
How many random features are enough?
====================================

SKG never computes a kernel. It multiplies random features, and their product is the kernel on
average. How far off is it with D features, and does that affect the prediction?
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import SKGRegressor, gnmse, load_temperature
from gradraker.datasets import split_nodes
from gradraker.explain import kernel_similarity_measure, similarity_measure

data = load_temperature("jan")
y = data.scale_values()
known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(1))
X = data.adjacency[:, known]
dense = X.toarray()
difference = dense[unknown][:, np.newaxis] - dense[known]  # [unknown, known, references]
exact = kernel_similarity_measure(difference, sigma2=5.0, learning_rate=0.1)

sizes = [10, 30, 100, 300, 1000, 3000]
distance, error = [], []
for size in sizes:
    rows = []
    for seed in range(6):
        model = SKGRegressor(sigma2=5.0, n_frequencies=size, n_epochs=5, random_state=seed)
        model.fit(X[known], y[known])
        found = similarity_measure(model.features(X[unknown]), model.features(X[known]), 0.1)
        off = np.sqrt(np.mean((found - exact) ** 2)) / 0.2
        rows.append([off, gnmse(y[unknown], model.predict(X[unknown]))])
    distance.append(np.mean(rows, axis=0)[0])
    error.append(np.array(rows)[:, 1])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
left.loglog(sizes, distance, "o-", color="#2166ac", label="measured")
left.loglog(sizes, 1 / np.sqrt(2 * np.array(sizes)), ":", color="0.4", label="the bound 1/√(2D)")
left.set(xlabel="features D", ylabel="error of the similarity, relative to 2η")
left.legend()
right.semilogx(sizes, np.mean(error, axis=1), "o-", color="#2166ac")
low, high = np.min(error, axis=1), np.max(error, axis=1)
right.fill_between(sizes, low, high, color="#2166ac", alpha=0.15, label="from best to worst seed")
right.set(xlabel="features D", ylabel="GNMSE on unknown stations", ylim=(0, None))
right.legend()
plt.show()

# %%
# The error of the similarity keeps falling like 1/√D; the prediction stops improving at about a
# hundred. The default is 200 (:doc:`/theory/similarity`).
