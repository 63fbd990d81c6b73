"""The rate adapting Poisson model of counts: Gehler, Holub & Welling (2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harmonium.estimators import Harmonium
from harmonium.families import Poisson
from harmonium.hidden import BinomialUnits
from harmonium.objectives import SampledCD
from harmonium.recipes._assembly import assemble
from harmonium.training import Momentum, Stochastic


def RAP(
    n_components: int = 50, M: int | Sequence[int] | np.ndarray = 1, *, published: bool = False, **settings: Any
) -> Harmonium:
    """Make a rate adapting Poisson model (RAP): counts and binomial topics.

    ``transform`` returns the latent coordinates Wᵀx, to be compared by cosine, and ``modes()`` finds prototypes. A fit
    ends with topics that are aligned with the mean item, w·x̄ ≥ 0, unless rows are length-normalised. Training is
    sampled CD-1 with expectations of the topics.

    Parameters
    ----------
    n_components : int, default=50
        Number of topics.
    M : int or sequence of int, default=1
        Number of trials of a topic. A sequence has one for each topic (M_j in the paper), and so gives their number.
    published : bool, default=False
        Whether to take the paper's configuration: counts of rows as they are, and 200,000 small steps
        with momentum on batches of 100, in at most 300 epochs. The paper has no number for the step; it is 0.0001.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    Notes
    -----
    The default driver takes Adam steps of 0.01 with a weight decay of 0.5, where the paper has small steps with
    momentum. Both values and M = 1 were chosen on validation documents of 20 Newsgroups; no record of that is kept.
    ``benchmarks/rap_retrieval``, which tries a decay of 0.5 and of 1, chooses 1 on both of its data sets.

    References
    ----------
    Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object recognition.

    Examples
    --------
    >>> RAP(20, M=5).hidden
    BinomialUnits(M=5)
    """
    family, driver = Poisson(), Stochastic(learning_rate=0.01, weight_decay=0.5)
    if published:
        family = Poisson(length_normalize=False)
        driver = Stochastic(
            learning_rate=1e-4, optimizer=Momentum(), schedule="constant", weight_decay=0.0, updates=200_000
        )
    parts = {"hidden": BinomialUnits(M), "objective": SampledCD(), "driver": driver, "output": "coordinates"}
    return assemble(Harmonium, family, {"n_components": n_components, **parts}, settings)
