"""
How fast will the traffic be in the next step?
==============================================

If node values are time series, a node is described by its own recent values and those of the
places around it, through a graph filter. Any regressor of the library learns from such rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from gradraker import SKGRegressor
from gradraker.datasets import make_traffic_series
from gradraker.graph import filtered_signals

data, series = make_traffic_series(40, n_times=400, random_state=1)
low, high = series.min(), series.max()
scaled = (series - low) / (high - low)
signals = filtered_signals(data.adjacency, scaled, taps=3)
X, y = signals.make_pairs()
n = data.n_nodes
split = len(y) // n // 2 * n  # the first half of the time is known

model = SKGRegressor(sigma2="median", n_frequencies=400, n_epochs=3, random_state=0)
model.fit(X[:split], y[:split])
predicted = model.predict(X[split:]).reshape(-1, n)
truth = y[split:].reshape(-1, n)
before = X[split:, 0].reshape(-1, n)  # the value now, as a guess of the next one


def measure(guess):
    """Root mean squared error in the unit of the series."""
    return np.sqrt(np.mean((guess - truth) ** 2)) * (high - low)


figure, ax = plt.subplots(figsize=(10, 4), layout="constrained")
place = int(np.argmax(truth.std(axis=0)))
times = np.arange(120)
ax.plot(times, low + (high - low) * truth[:120, place], color="0.6", linewidth=3, label="measured")
ax.plot(
    times,
    low + (high - low) * predicted[:120, place],
    color="#2166ac",
    label=f"predicted one step ahead, RMSE {measure(predicted):.2f}",
)
ax.plot([], [], " ", label=f'"as it is now": RMSE {measure(before):.2f}')
ax.set(xlabel="time", ylabel="speed", title=f"Place {place}, in the half that was not learned")
ax.legend()
plt.show()

# %%
# Queues move along roads: past values of neighbours announce them. How fast a queue
# dissolves is learned as well. An incident itself cannot be predicted.
# :doc:`/theory/filtered-signals` has the equations, ``gradraker series`` is the command.
