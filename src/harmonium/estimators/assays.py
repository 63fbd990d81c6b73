"""Default of the hidden layer for assays: factors, which are what people look for in AnnData and MuData."""

from __future__ import annotations

from typing import Any

from harmonium.hidden import FactorUnits, HiddenLayer
from harmonium.tables.transformer import families_asked
from harmonium.training import FittedModel
from harmonium.views import Views
from harmonium.views.inferring import infer_family
from harmonium.views.reading import families_given


def layer_of_assays(estimator: Any, views: Views) -> HiddenLayer | None:
    """Return the hidden layer for the views of AnnData or MuData where the user names no part.

    Parameters
    ----------
    estimator : Harmonium
        An estimator, whose settings are read.
    views : Views
        Assays of the same observations.

    Returns
    -------
    HiddenLayer or None
        Factors, if something was measured on a continuous scale and nothing is a count; None, which stands for the
        usual default, for all else: if something is to be predicted, or if a layer, an objective, a driver or seeds are
        given.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium
    >>> rna = Views({"rna": np.random.default_rng(0).normal(size=(30, 5))})
    >>> layer_of_assays(Harmonium(), rna), layer_of_assays(Harmonium(hidden="bernoulli"), rna)
    (FactorUnits(), None)
    """
    parts = (estimator.hidden, estimator.objective, estimator.driver, estimator.seeds)
    if estimator.kinds or any(part is not None for part in parts):
        return None
    factors = FactorUnits()
    families = families_given(families_asked(estimator.views), views.names)
    is_continuous = False
    for name in views.names:
        source = views.source(name)
        summary = source.summary()
        family = (families[name] or source.family or infer_family(summary, factors)).bind(summary)
        if family.domain.conflict(factors.support) is not None or family.length.typical(1) is not None:
            return None
        is_continuous |= not family.support.integer
    return factors if is_continuous else None


def default_again(estimator: Any, model: FittedModel) -> HiddenLayer | None:
    """Return the default layer that a model was fitted with, to fit it again; None if the settings say which it is.

    Parameters
    ----------
    estimator : Harmonium
        A fitted estimator, whose settings are read.
    model : FittedModel
        What it learned.

    Returns
    -------
    HiddenLayer or None
        A new layer with default settings.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium
    >>> model = Harmonium(2, random_state=0).fit(np.eye(4))
    >>> default_again(model, model.fitted_)
    BernoulliUnits()
    """
    return type(model.energy.hidden)() if estimator.hidden is None and not estimator.kinds else None
