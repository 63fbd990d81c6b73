"""
Order counts
============

Digits read row by row, as sequences of eight binary vectors. ``structMMH`` sees which pixels follow each other; with
the rows shuffled that is lost.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from harmonium import Hinge, Sequences, Stochastic, structMMH

digits = load_digits()
ink = (digits.images > 6).astype(int)
sequences = Sequences.from_matrices(list(ink))
train, test = np.arange(0, 1000), np.arange(1000, 1797)

# %%
# The number of epochs is given here to save time; by default it is chosen on held-out rows.
driver = Stochastic(max_iter=25, learning_rate=0.01)
scores = {}
for name, rows in (("in order", sequences), ("shuffled", sequences.shuffled(0))):
    model = structMMH(30, head=Hinge(C=0.5, linear_part=False), driver=driver, validation_fraction=0, random_state=0)
    model.fit({"rows": rows[train]}, digits.target[train])
    scores[name] = model.score({"rows": rows[test]}, digits.target[test])
print({name: round(score, 2) for name, score in scores.items()})

fig, ax = plt.subplots(figsize=(5, 2.2))
ax.barh(list(scores), list(scores.values()), color=["C0", "C1"])
ax.set(xlabel="accuracy", xlim=(0, 1))
fig.tight_layout()
