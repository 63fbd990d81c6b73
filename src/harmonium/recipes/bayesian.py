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
    published: bool = False,
    **settings: Any,
) -> Harmonium:
    """Make a Bayesian exponential family harmonium (BEFH).

    It has draws from the posterior of the weights instead of one estimate, so that
    ``transform(X, return_std=True)`` and ``predict_view(..., interval=0.9)`` tell how certain the model is. The draws
    come from Langevin steps with brief sampling, that is, with the gradient of `SampledCD`; pass
    ``driver=Langevin(...)`` to choose the number of chains, steps and draws.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    family : Family, optional
        Family of the view. By default it is inferred from the data.
    prior : Prior, optional
        Prior of the weights. The default is that of `Langevin`, `HierarchicalPrior`, whose scale is sampled too.
    hidden : HiddenLayer, optional
        Hidden layer. The default is `GaussianUnits()`.
    published : bool, default=False
        Whether to take the paper's configuration: ``prior=EmpiricalBayes(per="input", begin="weights")``, and biases
        that are estimated; both trust a few items too much (``benchmarks/bayes_recovery``).
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums; Welling & Teh (2011) for gradients of part of the rows.

    Examples
    --------
    >>> BEFH(20).driver
    Langevin()
    """
    return EFH(n_components, family, hidden=hidden, **with_langevin(prior, published, settings))


def BDWH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    prior: Prior | dict[str, Prior] | None = None,
    published: bool = False,
    **settings: Any,
) -> Harmonium:
    """Make a Bayesian dual-wing harmonium (BDWH).

    It describes a binary and a real-valued view, and has draws from the posterior of their weights; see `BEFH`.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict of str to Family, optional
        Families of the views by name. By default they are inferred from the data.
    prior : Prior, or dict of str to Prior, optional
        Prior of the weights, of all views or by view. The default is that of `Langevin`,
        `HierarchicalPrior`, whose scale is sampled too.
    published : bool, default=False
        Whether to take the paper's configuration: ``prior=EmpiricalBayes(per="input", begin="weights")``, and biases
        that are estimated; both trust a few items too much (``benchmarks/bayes_recovery``).
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums; Welling & Teh (2011) for gradients of part of the rows.

    Examples
    --------
    >>> from harmonium.training import GaussianPrior
    >>> BDWH(20, prior=GaussianPrior(scale=0.1)).driver
    Langevin(prior=GaussianPrior(scale=0.1))
    """
    return DWH(n_components, families, **with_langevin(prior, published, settings))
