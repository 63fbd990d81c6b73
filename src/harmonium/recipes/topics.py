"""Topics for people to read: binary units with non-negative weights."""

from __future__ import annotations

from typing import Any

from harmonium.core.validation import check_whole
from harmonium.estimators import Harmonium
from harmonium.hidden.layers.composed import topic_units
from harmonium.recipes._assembly import assemble


def TopicModel(n_components: int = 50, **settings: Any) -> Harmonium:
    """Make a model whose topics can be read: what is in an item, not what is absent.

    A topic is a binary unit that can only raise features. Training starts from clusters of the items, gives each topic
    to about ``1.5 / n_components`` of them, and levels long and short items. Presence of words, tags and the like makes
    better topics than counts, so pass ``(X > 0)``, or ``CountVectorizer(binary=True)``; views of other families may
    stand beside them.

    Parameters
    ----------
    n_components : int, default=50
        Number of topics.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    See Also
    --------
    harmonium.metrics.topic_coherence : How well the words of each topic go together.
    harmonium.report.topic_table : Words, items and classes of each topic.

    References
    ----------
    Nguyen, Tran, Phung & Venkatesh (2013), Learning parts-based representations with nonnegative restricted Boltzmann
    machines; Lee, Ekanadham & Ng (2008), Sparse deep belief net model for visual area V2, for targets of activity.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.kron(np.eye(3), np.ones((20, 4)))
    >>> model = TopicModel(3, random_state=0).fit(words)
    >>> sorted(model.topics(n=1)[1])  # a word of each topic
    ['view0_0', 'view0_4', 'view0_8']
    >>> bool(model.components_.min() >= 0)
    True
    >>> texts = ["dogs bark at night", "cats and dogs", "stocks fell", "stocks and markets fell"] * 10
    >>> TopicModel(2, random_state=0).fit(texts).topics(n=1).shape  # texts are taken as they are
    (2, 1)
    """
    check_whole("TopicModel", "n_components", n_components, remedy="50 is usual")
    parts = {"n_components": n_components, "hidden": topic_units(n_components)}
    model = assemble(Harmonium, None, parts, settings)
    model._recipe = "TopicModel"
    return model
