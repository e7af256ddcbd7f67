"""
Where does the best σ² lie?
===========================

A sweep trains SKG at many variances on many splits and shows the error of each. The boundaries of
the paper's four ranges are computed from the graph alone, before anything is trained. Do they
predict where the best variance is?
"""

import matplotlib.pyplot as plt

from gradraker import load_temperature, sigma2_sweep
from gradraker.datasets import make_block_graph, make_geometric_graph

figure, axes = plt.subplots(3, 1, figsize=(8, 11), layout="constrained")
graphs = (
    load_temperature("jan"),
    make_geometric_graph(200, random_state=0),
    make_block_graph(200, random_state=0),
)
for ax, data in zip(axes, graphs, strict=True):
    result = sigma2_sweep(data, n_repeats=12)
    result.plot(ax=ax)
    print(result)
plt.show()

# %%
# The best variance lies at the end of the extending range or somewhat beyond it, where all
# similar nodes count and the farthest ones do not yet disturb. :doc:`/how-to/sweeping` runs this
# on your graph, :doc:`/theory/choosing-sigma2` compares the rules that choose σ² for you.
