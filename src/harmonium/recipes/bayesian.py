"""Harmoniums with draws from the posterior of their weights: Guo & Xing (2006)."""

from __future__ import annotations

from typing import Any

from harmonium.estimators import Harmonium
from harmonium.families import Family
from harmonium.hidden import HiddenLayer
from harmonium.recipes._assembly import with_langevin
from harmonium.recipes.classic import EFH
from harmonium.recipes.multiview import DWH
from harmonium.training import Prior


def BEFH(
    n_components: int = 50,
    family: Family | None = None,
    *,
    prior: Prior | None = None,
    hidden: HiddenLayer | None = None,
    **settings: Any,
) -> Harmonium:
    """Bayesian exponential family harmonium: draws from the posterior of the weights in the place of one estimate.

    Langevin steps with brief sampling, that is, the gradient of `SampledCD`; ``driver=Langevin(...)`` says how many
    chains, steps and draws. ``transform(X, return_std=True)`` and ``predict_view(..., interval=0.9)`` tell how sure the
    model is.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    family : Family, optional
        Family of the view; default: inferred from the data.
    prior : Prior, optional
        Prior of the weights; default: `GaussianPrior()`, whose scale is that of the data. The paper has
        ``EmpiricalBayes(per="input", begin="weights")``, which trusts few items too much.
    hidden : HiddenLayer, optional
        Default `GaussianUnits`.
    **settings
        Other parameters of `Harmonium`.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums; Welling & Teh (2011) for gradients of part of the rows.

    Examples
    --------
    >>> BEFH(20).driver
    Langevin()
    """
    return EFH(n_components, family, hidden=hidden, **with_langevin(prior, settings))


def BDWH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    prior: Prior | dict[str, Prior] | None = None,
    **settings: Any,
) -> Harmonium:
    """Bayesian dual-wing harmonium: a binary and a real-valued view, and draws from the posterior of their weights.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict, optional
        Name of view → family; default: inferred.
    prior : Prior, or dict of view → Prior, optional
        Prior of the weights; default: `GaussianPrior()`, whose scale is that of the data; see `BEFH`.
    **settings
        Other parameters of `Harmonium`.

    References
    ----------
    As `BEFH`.

    Examples
    --------
    >>> from harmonium import GaussianPrior
    >>> BDWH(20, prior=GaussianPrior(scale=0.1)).driver
    Langevin(prior=GaussianPrior(scale=0.1))
    """
    return DWH(n_components, families, **with_langevin(prior, settings))
