"""
Which stations speak for Jungfraujoch?
======================================

A prediction is a weighted sum of known values. The weights say which stations it listens to.
"""

import matplotlib.pyplot as plt

from gradraker import NodeRegressor, load_temperature

data = load_temperature("jan")
known = dict(zip(data.node_names, data.values, strict=True))
truth = known.pop("Jungfraujoch")
model = NodeRegressor().fit(data, known)
explanation = model.explain(["Jungfraujoch"])
print(explanation)
explanation.plot()
plt.show()
