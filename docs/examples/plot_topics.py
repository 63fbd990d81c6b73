"""
What is in scikit-learn?
========================

The docstrings of scikit-learn are a pile of documents that everybody has. Topics of their words, how coherent they are,
and which function belongs to which.
"""

# %%
import importlib
import inspect
import pkgutil

import numpy as np
import sklearn
from sklearn.feature_extraction.text import CountVectorizer

from harmonium import TopicModel, Views
from harmonium.metrics import topic_coherence, topic_diversity
from harmonium.report import MapDisplay, TopicsDisplay, document_topics

documents = {}
for part in pkgutil.iter_modules(sklearn.__path__):
    if part.ispkg and not part.name.startswith("_") and part.name not in ("externals", "tests"):
        module = importlib.import_module(f"sklearn.{part.name}")
        for name in vars(module).keys() & set(getattr(module, "__all__", ())):
            text = inspect.getdoc(vars(module)[name]) or ""
            if len(text) > 500:
                documents[f"{part.name}.{name}"] = text
documents = dict(sorted(documents.items()))
print(len(documents), "docstrings")

# %%
# The presence of words is all that the model sees.
words = CountVectorizer(binary=True, min_df=8, max_df=0.3, stop_words="english", token_pattern=r"[a-z]{4,}")
presence = words.fit_transform(documents.values())
X = Views({"words": presence}, feature_names={"words": words})
model = TopicModel(10, random_state=0).fit(X)
found = model.topics(n=8)
for topic, line in found.iterrows():
    print(topic, *line)

# %%
# NPMI of 0 is chance, 0.3 is good; a diversity of 1 means that no word is listed twice.
coherence = topic_coherence(found, presence, words.get_feature_names_out())
print(f"NPMI {np.mean(coherence):.2f}, diversity {topic_diversity(found):.2f}")
topics = TopicsDisplay.from_estimator(model, topics=[0, 1, 2, 3], n_features=8)

# %%
# Which topic does an object belong to?
labels = document_topics(model, X)["label"]
for place in range(0, len(documents), 60):
    print(f"{list(documents)[place]:45s}", labels.iloc[place, 0])

# %%
# The latent space, by the package an object comes from:
packages = np.array([name.partition(".")[0] for name in documents])
common = [name for name, count in zip(*np.unique(packages, return_counts=True), strict=True) if count >= 18]
latent_map = MapDisplay.from_estimator(model, X, np.where(np.isin(packages, common), packages, None))
