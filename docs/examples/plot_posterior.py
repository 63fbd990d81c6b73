"""
How sure is it, with few items?
===============================

Draws from the posterior of the weights say where an item is in the latent space, and how sure that is: less so with
twenty wines than with a hundred.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from harmonium import BEFH, Langevin
from harmonium.inspection import diagnostics

wines, grower = load_wine(return_X_y=True, as_frame=True)
wines, grower = wines.sample(frac=1, random_state=0), grower.sample(frac=1, random_state=0)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, n_items in zip(axes, (20, 100), strict=True):
    driver = Langevin(n_draws=60, n_warmup=300, n_chains=2)
    model = BEFH(2, driver=driver, random_state=0).fit(wines[:n_items])
    mean, spread = model.transform(wines[100:140], return_std=True)
    for kind in range(3):
        rows = grower[100:140].to_numpy() == kind
        ax.errorbar(
            mean[rows, 0], mean[rows, 1], spread[rows, 1], spread[rows, 0], fmt="o", ms=4, lw=1, label=f"grower {kind}"
        )
    ax.set(title=f"learned from {n_items} wines", xlabel="first coordinate")
axes[0].set_ylabel("second coordinate")
axes[0].legend()
fig.tight_layout()

# %%
# Did the chains mix? R-hat should be below 1.1.
print(diagnostics(model, n_pairs=3))
