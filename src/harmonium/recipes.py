"""The papers' models by name: parts put together, no maths.

Each recipe returns an ordinary `Harmonium`; keyword arguments that are not named here go to it, and any part can be
replaced.
"""

from __future__ import annotations

from typing import Any

from harmonium.estimators import Harmonium
from harmonium.families import Bernoulli, Family, Poisson
from harmonium.hidden import BernoulliUnits, BinomialUnits, GaussianUnits, HiddenLayer
from harmonium.objectives import PersistentCD, SampledCD
from harmonium.training import Stochastic


def _model(defaults: dict[str, Any], settings: dict[str, Any]) -> Harmonium:
    return Harmonium(**{**defaults, **settings})


def RBM(n_components: int = 50, *, persistent: bool = False, **settings: Any) -> Harmonium:
    """Restricted Boltzmann machine: binary features, binary units.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    persistent : bool, default=False
        Persistent chains (stochastic maximum likelihood) instead of CD-1.
    **settings
        Other parameters of `Harmonium`.

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
    return _model(
        {"n_components": n_components, "views": Bernoulli(), "hidden": BernoulliUnits(), "objective": objective},
        settings,
    )


def EFH(
    n_components: int = 50, family: Family | None = None, hidden: HiddenLayer | None = None, **settings: Any
) -> Harmonium:
    """Exponential family harmonium: one view of any family, Gaussian units, sampled contrastive divergence.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    family : Family, optional
        Family of the view; default: inferred from the data.
    hidden : HiddenLayer, optional
        Default `GaussianUnits`.
    **settings
        Other parameters of `Harmonium`.

    References
    ----------
    Welling, Rosen-Zvi & Hinton (2004), Exponential family harmoniums with an application to information retrieval.

    Examples
    --------
    >>> EFH(20).hidden
    GaussianUnits()
    """
    return _model(
        {
            "n_components": n_components,
            "views": "infer" if family is None else family,
            "hidden": hidden if hidden is not None else GaussianUnits(),
            "objective": SampledCD(),
        },
        settings,
    )


def DWH(n_components: int = 50, families: dict[str, Family] | None = None, **settings: Any) -> Harmonium:
    """Dual-wing harmonium: a binary and a real-valued view, Gaussian units, sampled contrastive divergence.

    The papers train it with `MeanFieldCD`, which can be passed as ``objective``; between two Gaussian layers, though,
    means alone do not hold the weights back and they grow to the edge of what can be normalised.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict, optional
        Name of view → family, e.g. ``{"tags": Bernoulli(), "colour": Gaussian()}``; default: inferred, which gives
        Bernoulli for binary and Gaussian for real-valued views.
    **settings
        Other parameters of `Harmonium`.

    References
    ----------
    Xing, Yan & Hauptmann (2005), Mining associated text and images with dual-wing harmoniums; Chen, Zhu, Sun & Xing
    (2012), Large-margin predictive latent subspace learning for multiview data analysis, §3.1.

    Examples
    --------
    >>> from harmonium import Bernoulli, Gaussian
    >>> DWH(20, {"tags": Bernoulli(), "colour": Gaussian()}).views
    {'tags': Bernoulli(), 'colour': Gaussian()}
    """
    return _model(
        {
            "n_components": n_components,
            "views": "infer" if families is None else families,
            "hidden": GaussianUnits(),
            "objective": SampledCD(),
        },
        settings,
    )


def RAP(n_components: int = 50, M: int = 1, **settings: Any) -> Harmonium:
    """Rate Adapting Poisson model: counts, binomial topics, sampled CD-1 with expectations of the topics.

    ``transform`` gives the latent coordinates Wᵀx, to be compared by cosine; ``canonical_signs()`` fixes the sign of
    each topic and ``modes()`` finds prototypes. The default driver is Adam with a step of 0.01 and weight decay 0.5
    (the paper: small steps with momentum), chosen on validation documents of 20 Newsgroups, as was M = 1.

    Parameters
    ----------
    n_components : int, default=50
        Number of topics.
    M : int, default=1
        Number of trials of a topic.
    **settings
        Other parameters of `Harmonium`.

    References
    ----------
    Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object recognition.

    Examples
    --------
    >>> RAP(20, M=5).hidden
    BinomialUnits(M=5)
    """
    return _model(
        {
            "n_components": n_components,
            "views": Poisson(),
            "hidden": BinomialUnits(M),
            "objective": SampledCD(),
            "driver": Stochastic(learning_rate=0.01, weight_decay=0.5),
            "output": "coordinates",
        },
        settings,
    )


__all__ = ["DWH", "EFH", "RAP", "RBM"]
