"""
Is my graph informative about my values?
========================================

Every method on graphs assumes that similar nodes have similar values. ``similarity_transfer``
checks that before anything is trained: differences of values against distances of adjacency
vectors, for all pairs of nodes.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import load_temperature
from gradraker.explain import similarity_transfer

data = load_temperature("jan")
shuffled = np.random.default_rng(0).permutation(data.values)

found = similarity_transfer(data.adjacency, data.values)
print(found.verdict)
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
found.plot(ax=ax)
figure.suptitle("Temperatures as measured")
plt.show()

# %%
# The same temperatures, shuffled.

found = similarity_transfer(data.adjacency, shuffled)
print(found.verdict)
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
found.plot(ax=ax)
figure.suptitle("The same temperatures, shuffled")
plt.show()

# %%
# Above, stations that are close in the graph differ little, and the curve rises. Below it is
# flat: no learner can help there, and a good one reports that.
