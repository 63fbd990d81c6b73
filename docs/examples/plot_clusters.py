"""
Clusters of several views
=========================

Digits in two views, pixels and shape. ``ClusterSpace`` puts views on a common scale in closed form, so that k-means
can work on both; PCA of all columns side by side is the plain alternative.
"""

# %%
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from harmonium import ClusterSpace
from harmonium.datasets import load_digits_views
from harmonium.report import MapDisplay

digits = load_digits_views()
model = ClusterSpace(random_state=0).fit(digits.views)
space = model.transform(digits.views)
print(space.shape)

# %%
both = np.hstack(list(digits.views.values()))
plain = make_pipeline(StandardScaler(), PCA(space.shape[1])).fit_transform(both)
for name, coordinates in (("ClusterSpace", space), ("PCA of standardised columns", plain)):
    clusters = KMeans(10, n_init=5, random_state=0).fit_predict(coordinates)
    print(f"{name}: normalised mutual information {normalized_mutual_info_score(digits.target, clusters):.2f}")

# %%
latent_map = MapDisplay.from_estimator(model, digits.views, digits.target, max_items=500)
