"""
Numbers with intervals
======================

Predictions of a number come with intervals that hold for new rows as often as they say. The data are those of 442
diabetes patients.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from harmonium import HarmoniumRegressor, Stochastic

frame = load_diabetes(as_frame=True, scaled=False).frame
train, test = train_test_split(frame, test_size=0.3, random_state=0)
# twenty epochs keep this page quick; by default the number of rows decides
model = HarmoniumRegressor(n_components=5, driver=Stochastic(max_iter=20), random_state=0).fit(train, "target")
predicted, lower, upper = model.predict(test, interval=0.8)
truth = test["target"].to_numpy()
inside = np.mean((lower <= truth) & (truth <= upper))
print(f"R² {model.score(test, 'target'):.2f}; {inside:.0%} of the values lie in 80 % intervals")

# %%
order = np.argsort(predicted)
fig, ax = plt.subplots(figsize=(7, 3.5))
ax.fill_between(np.arange(len(truth)), lower[order], upper[order], alpha=0.25, label="80 % interval")
ax.plot(predicted[order], label="predicted")
ax.plot(truth[order], ".", ms=4, color="k", label="progression of the disease")
ax.set_xlabel("test patients, by prediction")
ax.legend()
