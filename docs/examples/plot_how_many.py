"""
How many features are there?
============================

Pictures made of a few bars, each of them there or not. An ``IBP`` layer is told neither their number nor that they are
bars, and finds both.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from harmonium import IBP, Harmonium

rng = np.random.default_rng(0)
bars = np.zeros((8, 6, 6))
for place in range(4):
    bars[place, place + 1] = 1  # rows
    bars[4 + place, :, place + 1] = 1  # columns
used = rng.random((600, 8)) < 0.2
pictures = (rng.random((600, 36)) < np.where(used @ bars.reshape(8, 36) > 0, 0.95, 0.03)).astype(int)

fig, axes = plt.subplots(1, 10, figsize=(9, 1.2))
for ax, picture in zip(axes, pictures, strict=False):
    ax.imshow(picture.reshape(6, 6), cmap="gray_r")
    ax.set(xticks=[], yticks=[])

# %%
model = Harmonium(hidden=IBP(truncation=30), random_state=0).fit(pictures)
print(model.n_components_, "units; share of the pictures that use each:", model.fitted_.usage.round(2))

# %%
# Each unit is one bar:
(view,) = model.families_
weights = model.topics(view, n=None, by="weight").to_numpy()
fig, axes = plt.subplots(1, model.n_components_, figsize=(9, 1.3))
for ax, column in zip(axes, weights.T, strict=True):
    ax.imshow(column.reshape(6, 6), cmap="RdBu_r", vmin=-abs(weights).max(), vmax=abs(weights).max())
    ax.set(xticks=[], yticks=[])
