"""The harmoniums that the others build on: RBM, EFH and the discriminative RBM."""

from __future__ import annotations

from typing import Any

from harmonium.estimators import Harmonium, HarmoniumClassifier
from harmonium.families import Bernoulli, Family
from harmonium.heads import LabelView
from harmonium.hidden import BernoulliUnits, GaussianUnits, HiddenLayer
from harmonium.objectives import Discriminative, PersistentCD, SampledCD
from harmonium.recipes._assembly import assemble


def RBM(n_components: int = 50, *, persistent: bool = False, **settings: Any) -> Harmonium:
    """Make a restricted Boltzmann machine (RBM): binary features, binary units.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    persistent : bool, default=False
        Whether to train with persistent chains (stochastic maximum likelihood) instead of CD-1.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    References
    ----------
    Smolensky (1986), Information processing in dynamical systems; Hinton (2002), Training products of experts by
    minimizing contrastive divergence; Tieleman (2008) for persistent chains.

    Examples
    --------
    >>> RBM(20).hidden
    BernoulliUnits()
    """
    objective = PersistentCD() if persistent else SampledCD()
    parts = {"n_components": n_components, "hidden": BernoulliUnits(), "objective": objective}
    return assemble(Harmonium, Bernoulli(), parts, settings)


def EFH(
    n_components: int = 50, family: Family | None = None, hidden: HiddenLayer | None = None, **settings: Any
) -> Harmonium:
    """Make an exponential family harmonium (EFH): one view.

    It is trained with sampled contrastive divergence. Its Gaussian units suit all families but `Poisson`,
    `NegativeBinomial` and `Beta`, with which they have no finite Z.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    family : Family, optional
        Family of the view. By default it is inferred from the data.
    hidden : HiddenLayer, optional
        Hidden layer. The default is `GaussianUnits()`.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    References
    ----------
    Welling, Rosen-Zvi & Hinton (2004), Exponential family harmoniums with an application to information retrieval.

    Examples
    --------
    >>> EFH(20).hidden
    GaussianUnits()
    """
    units = GaussianUnits() if hidden is None else hidden
    parts = {"n_components": n_components, "hidden": units, "objective": SampledCD()}
    return assemble(Harmonium, family, parts, settings)


def DiscriminativeRBM(
    n_components: int = 50, family: Family | None = None, *, generative: float = 0.0, **settings: Any
) -> HarmoniumClassifier:
    """Make a discriminative restricted Boltzmann machine.

    Units are binary, the label is a view, and training maximises the exact conditional likelihood of the label.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    family : Family, optional
        Family of the view. By default it is inferred from the data.
    generative : float, default=0.0
        Weight of the joint likelihood relative to the conditional one. More than 0 gives the hybrid of the paper, which
        has about 0.01.
    **settings : object
        Other parameters of `HarmoniumClassifier`.

    Returns
    -------
    HarmoniumClassifier
        An estimator that is not yet fitted.

    References
    ----------
    Larochelle & Bengio (2008), Classification using discriminative restricted Boltzmann machines.

    Examples
    --------
    >>> DiscriminativeRBM(20, generative=0.01).objective
    Discriminative(generative=0.01)
    """
    head, objective = LabelView(inference="exact"), Discriminative(generative)
    parts = {"n_components": n_components, "hidden": BernoulliUnits(), "objective": objective, "head": head}
    return assemble(HarmoniumClassifier, family, parts, settings)
