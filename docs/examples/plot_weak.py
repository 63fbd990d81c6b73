"""
Find what nobody marked
=======================

Pictures with a digit somewhere in clutter; labels say which digit, nobody says where. The classifier learns both.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from harmonium.weak import Bags, DissimilarityClassifier, OverlapLoss

rng = np.random.default_rng(0)
images, target = load_digits(n_class=3, return_X_y=True)
images = images.reshape(-1, 8, 8)
chosen = rng.permutation(len(images))[:180]
corners = [(top, left) for top in (0, 4, 8) for left in (0, 4, 8)]
boxes = [[top, left, top + 8, left + 8] for top, left in corners]

pictures, places = [], rng.integers(0, len(corners), size=len(chosen))
for row, place in zip(chosen, places, strict=True):
    picture = rng.choice(images.ravel(), size=(16, 16)) * (rng.random((16, 16)) < 0.5)
    top, left = corners[place]
    picture[top : top + 8, left : left + 8] = images[row]
    pictures.append(picture)
windows = [np.array([p[t : t + 8, s : s + 8].ravel() / 16 for t, s in corners]) for p in pictures]
bags, labels = Bags.from_list(windows, [boxes] * len(windows)), target[chosen]

# %%
model = DissimilarityClassifier(C=10, loss=OverlapLoss(), random_state=0).fit(bags[:120], labels[:120])
found, where = model.predict_latent(bags[120:])
print(f"digit right {np.mean(found == labels[120:]):.0%}, place right {np.mean(where == places[120:]):.0%}")

# %%
fig, axes = plt.subplots(2, 6, figsize=(9, 3.2))
for ax, picture, label, place in zip(axes.ravel(), pictures[120:], found, where, strict=False):
    ax.imshow(picture, cmap="gray_r")
    top, left, bottom, right = boxes[place]
    ax.add_patch(plt.Rectangle((left - 0.5, top - 0.5), right - left, bottom - top, fill=False, ec="tab:red", lw=2))
    ax.set_title(str(label), fontsize=9)
    ax.set_axis_off()
fig.tight_layout()
