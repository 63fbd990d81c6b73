"""
Labels and views that are missing
=================================

Half of the labels are unknown, and a third of the rows lacks a view. The classifier learns from all rows, says how sure
it is, and shows which topics belong to which class.
"""

# %%
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from harmonium import HarmoniumClassifier, Stochastic
from harmonium.report import ClassTopicsDisplay, MapDisplay, topic_table

wines, grower = load_wine(return_X_y=True, as_frame=True)
colours = ["total_phenols", "flavanoids", "color_intensity", "hue", "od280/od315_of_diluted_wines"]
train, test, y, truth = train_test_split(wines, grower.to_numpy(), test_size=0.4, random_state=0)
views = {"body": train.drop(columns=colours), "colour": train[colours].copy()}
views["colour"].iloc[::3] = np.nan
known = np.where(np.arange(len(y)) % 2, y, -1)

# twenty epochs keep this page quick; by default the number of rows decides
model = HarmoniumClassifier(n_components=5, driver=Stochastic(max_iter=20), random_state=0).fit(views, known)
new = {"body": test.drop(columns=colours), "colour": test[colours]}
print(f"accuracy {model.score(new, truth):.2f}, from one view {model.score({'body': new['body']}, truth):.2f}")

# %%
# Probabilities are calibrated on held-out rows:
print(model.predict_proba(new)[:4].round(2))
print(model.annotate(new, top=2).head(4).to_string(index=False))

# %%
# Topics, what loads on them, and the classes that have them:
print(topic_table(model, new, truth, n_features=2).to_string())
by_class = ClassTopicsDisplay.from_estimator(model, new, truth)

# %%
latent_map = MapDisplay.from_estimator(model, new, truth)
