"""
Two views, one of them missing for some rows
============================================

A latent space of two laboratories' reports on the same wines. A third of the wines lacks the second report; it is
inferred, not imputed beforehand, and a wine without it is encoded by the other.
"""

# %%
import numpy as np
from sklearn.datasets import load_wine

from harmonium import Harmonium
from harmonium.report import CoverageDisplay, ExplainedDisplay, FactorsDisplay
from harmonium.training import Spectral

wines, grower = load_wine(return_X_y=True, as_frame=True)
colours = ["total_phenols", "flavanoids", "color_intensity", "hue", "od280/od315_of_diluted_wines"]
views = {"body": wines.drop(columns=colours), "colour": wines[colours].copy()}
views["colour"].iloc[::3] = np.nan

# %%
# Factors are found in closed form. Left to itself the model keeps those that stand out of chance; here, three are
# asked for.
model = Harmonium(n_components=3, hidden="factor", driver=Spectral(selects=False), random_state=0).fit(views)

# %%
# Who has what, and what share of each view every factor explains:
coverage = CoverageDisplay.from_estimator(model, views)
explained = ExplainedDisplay.from_estimator(model, views)

# %%
# The growers were not told to the model; they come apart by themselves.
factors = FactorsDisplay.from_estimator(model, views, grower)

# %%
# One view from the other, for the wines that lack it:
guess = model.predict_view("colour", {"body": views["body"].iloc[::3]})
truth = wines[colours].iloc[::3]
for name, mine, theirs in zip(colours, guess.T, truth.to_numpy().T, strict=True):
    print(f"{name:30s} correlation with the truth {np.corrcoef(mine, theirs)[0, 1]:.2f}")
