"""What a model is trained with unless the user says otherwise."""

from __future__ import annotations

from harmonium.hidden import HiddenLayer
from harmonium.training.base import Driver
from harmonium.training.stochastic import Stochastic


def default_driver(layer: HiddenLayer, has_head: bool) -> Driver:
    """Return the driver that suits a layer, with or without something to predict.

    With a head: chosen on held-out training rows of 20 Newsgroups, hotels and BDGP (benchmarks
    newsgroups_classification, hotel_regression and two_views). Units that share their second moment take smaller steps,
    all but one, so layers that select units begin with larger ones (benchmarks infinite_truth, infinite_newsgroups).
    """
    if not has_head:
        return Stochastic(batch_size=None, learning_rate=0.09) if layer.selects else Stochastic()
    larger = 3.0 if layer.selects else 1.0
    return Stochastic(
        batch_size=None,
        learning_rate=0.01 * larger,
        reach=0.5 * larger,
        schedule="constant",
        weight_decay=0.5 / larger,
        average=True,
    )
