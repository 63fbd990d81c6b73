"""Check of the guide of topics in a model file: every claim it makes of the model."""

from __future__ import annotations

import numpy as np

from harmonium.energy import Energy
from harmonium.objectives.guide import Guide


def check_guide(guide: Guide, energy: Energy) -> None:
    """Refuse seeds of topics or features that a model does not have, and a prior of other weights."""
    n_topics, widths = len(guide.names), {name: family.n_features_ for name, family in energy.families.items()}
    by_topic = (guide.features, guide.excluded, guide.rows)
    if not 0 < n_topics <= energy.hidden.groups.topics.n_units_ or {len(own) for own in by_topic} != {n_topics}:
        raise ValueError("seeds must be of topics that the model has")
    named = [feature for own in guide.features for seed in own for feature in seed]
    named += [feature for own in guide.excluded for feature in own]
    if not all(0 <= number < widths.get(view, 0) for view, number in named):
        raise ValueError("seeds must be features that the model has")
    if set(guide.prior) != {view for own in guide.features for seed in own for view, _ in seed}:
        raise ValueError("the prior of seeds must be of the views that they are in")
    for view, prior in guide.prior.items():
        features, topics = guide.places(view)
        for found, expected in ((prior.features, features), (prior.topics, topics)):
            if found.dtype.kind != "i" or not np.array_equal(found, expected):
                raise ValueError("the prior must be of the weights of the seeds")
        for values in (prior.means, prior.precision):
            right = values.dtype.kind == "f" and values.shape == features.shape
            if not (right and (np.isfinite(values) & (values >= 0)).all()):
                raise ValueError("the prior of seeds must have two numbers, 0 or more, for each weight")
