"""
What is a kernel, seen from a node?
===================================

Gaussian, Laplacian and Cauchy kernels measure how similar two adjacency vectors are as a function
of their difference. All three can be approximated by random features, each with its own
distribution of frequencies.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import SKGRegressor
from gradraker.explain import kernel_similarity_measure, similarity_measure

n_differing = np.arange(0, 31)  # references that two nodes do not share
origin = np.zeros((1, 30))
others = np.tril(np.ones((31, 30)), -1)  # row k differs in k entries

figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, layout="constrained")
for ax, kernel in zip(axes, ("gaussian", "laplacian", "cauchy"), strict=True):
    for sigma2, colour in ((2.0, "#b2182b"), (10.0, "#e08214"), (50.0, "#2166ac")):
        exact = kernel_similarity_measure(others, sigma2=sigma2, learning_rate=0.5, kernel=kernel)
        model = SKGRegressor(kernel=kernel, sigma2=sigma2, n_frequencies=200, random_state=0)
        model.fit(others, n_differing.astype(float))
        sampled = similarity_measure(model.features(origin), model.features(others), 0.5)
        ax.plot(n_differing, exact.ravel(), color=colour, label=f"σ² = {sigma2:g}")
        ax.plot(n_differing, sampled.ravel(), ".", color=colour, alpha=0.5)
    ax.set(title=kernel, xlabel="references that differ")
axes[0].set_ylabel("kernel (line), 200 random features (dots)")
axes[0].legend()
plt.show()

# %%
# The dots scatter around the lines by about 1/√(2D) = 0.05: the noise that defines the four
# ranges of σ². Where a line is below this noise, distant nodes cannot be distinguished.
