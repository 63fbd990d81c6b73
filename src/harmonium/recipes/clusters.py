"""A space to cluster in: principal components of views on a common scale."""

from __future__ import annotations

from typing import Any

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.families import Balanced
from harmonium.hidden import FactorUnits
from harmonium.recipes._assembly import assemble
from harmonium.training import Spectral


def ClusterSpace(n_components: int = 50, **settings: Any) -> Harmonium:
    """Make a model whose latent space is one to cluster in.

    Clusters may be found by k-means, or by anything else that goes by distances. Views may hold counts or presence of
    words, tags, histograms, measurements, or all of these; no view outweighs the others. `transform` returns rows of
    length 1: the direction in which an item is expected to differ from one that is average in all numbers and has no
    words. It is found in closed form, so that seeds make no difference.

    Parameters
    ----------
    n_components : int, default=50
        Largest number of dimensions. There are no more of them than the root of the number of rows.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    See Also
    --------
    harmonium.families.Balanced : How views are brought to a common scale.
    TopicModel : Topics to read.

    Notes
    -----
    The model is probabilistic principal component analysis of the balanced views, which is latent semantic analysis if
    there is one view of words. Directions that explain little are drawn to zero by the variance that chance gives to a
    direction; in small sets of items k-means does better without most of them. Their number was settled on random
    parts of mfeat, BDGP, Reuters-21578 and 20 Newsgroups (``benchmarks/clusters``), where 20 to 50 did much the same,
    50 better with 20 classes of 2,000 items and worse with 300 items; other numbers need
    ``driver=Spectral(selects=False)``.

    References
    ----------
    Tipping & Bishop (1999), Probabilistic principal component analysis; Deerwester, Dumais, Furnas, Landauer & Harshman
    (1990), Indexing by latent semantic analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> kind = np.repeat([0, 1, 2], 50)  # three kinds of items, each with words and measurements of its own
    >>> rng = np.random.default_rng(0)
    >>> words = rng.poisson(np.where(kind[:, None] == np.arange(30) % 3, 1.0, 0.2))
    >>> sizes = 100 * rng.normal(size=(150, 4)) + 500 * (kind[:, None] == np.arange(4))
    >>> space = ClusterSpace(3).fit_transform({"words": words, "sizes": sizes})
    >>> found = KMeans(3, n_init=10, random_state=0).fit_predict(space)
    >>> [len(set(found[kind == one])) for one in range(3)]
    [1, 1, 1]
    """
    check_whole("ClusterSpace", "n_components", n_components, remedy="50 is usual")
    parts = {"hidden": FactorUnits(rotation=None), "driver": Spectral(selects="root"), "output": "directions"}
    return assemble(Harmonium, Balanced(), {"n_components": n_components, **parts}, settings)
