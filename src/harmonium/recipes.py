"""The papers' models by name: parts put together, no maths.

Each recipe returns an ordinary `Harmonium`, `HarmoniumClassifier` or `HarmoniumRegressor`; keyword arguments that are
not named here go to it, and any part can be replaced.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor
from harmonium.families import Bernoulli, Chain, Family, Poisson
from harmonium.heads import EpsilonInsensitive, Head, Hinge, LabelView
from harmonium.hidden import IBP, BernoulliUnits, BinomialUnits, GaussianUnits, HiddenLayer
from harmonium.objectives import Discriminative, PersistentCD, SampledCD
from harmonium.training import Langevin, Prior, Stochastic

Model = TypeVar("Model", bound=Harmonium)
Task = Literal["classification", "regression"]


def _model(defaults: dict[str, Any], settings: dict[str, Any], kind: type[Model] = Harmonium) -> Model:
    return kind(**{**defaults, **settings})


def _estimator(task: Task) -> type[HarmoniumClassifier] | type[HarmoniumRegressor]:
    if task not in ("classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression'; got {task!r}; take one of them.")
    return HarmoniumClassifier if task == "classification" else HarmoniumRegressor


def _sampled(prior: Prior | dict[str, Prior] | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with the Langevin driver, unless another is given, which then has a prior of its own."""
    if prior is not None and "driver" in settings:
        raise ValueError(f"A driver that is given has the prior; got prior={prior!r} beside it; pass it to the driver.")
    return {"driver": Langevin(prior=prior), **settings}


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


def MMH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    C: float | Literal["auto"] = "auto",
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Max-margin harmonium: one or more views, a hinge or ε-insensitive head, trained together.

    The paper has Gaussian units, mean-field contrastive divergence and an SVM solved in turn with L-BFGS steps; pass
    ``hidden=GaussianUnits()``, ``objective=MeanFieldCD(5)``, ``head=Hinge(solver="alternate")`` and ``driver=LBFGS()``
    for that. The defaults here are binary units and joint stochastic steps with sampled CD.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict, optional
        Name of view → family; default: inferred.
    task : {"classification", "regression"}, default="classification"
        What y holds.
    C : float or "auto", default="auto"
        Weight of the prediction loss; see `LinearHead`.
    **settings
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §4.

    Examples
    --------
    >>> MMH(20, C=1.0).head
    Hinge(C=1.0)
    >>> MMH(20, task="regression").head
    EpsilonInsensitive()
    """
    head: Head = Hinge(C) if task == "classification" else EpsilonInsensitive(C)
    return _model(
        {
            "n_components": n_components,
            "views": "infer" if families is None else families,
            "hidden": BernoulliUnits(),
            "objective": SampledCD(),
            "head": head,
        },
        settings,
        _estimator(task),
    )


def iEFH(
    truncation: int = 100,
    families: dict[str, Family] | None = None,
    *,
    kind: Literal["binary", "real"] = "binary",
    alpha: float | Literal["learn"] = 2.0,
    **settings: Any,
) -> Harmonium:
    """Infinite exponential family harmonium of one or more views: how many units there are is inferred.

    The paper learns by mean-field contrastive divergence; pass ``objective=MeanFieldCD()`` for that, and
    ``hidden=IBP(inference="factorised")`` for its inference of spike and slab.

    Parameters
    ----------
    truncation : int, default=100
        Largest number of units.
    families : dict, optional
        Name of view → family; default: inferred.
    kind : {"binary", "real"}, default="binary"
        What a unit is for an item that has it.
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori.
    **settings
        Other parameters of `Harmonium`.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features, §III-IV.

    Examples
    --------
    >>> iEFH(50, kind="real").hidden
    IBP(kind='real', truncation=50)
    """
    return _model(
        {
            "views": "infer" if families is None else families,
            "hidden": IBP(alpha, truncation, kind),
            "objective": SampledCD(),
        },
        settings,
    )


def iMMH(
    truncation: int = 100,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    C: float | Literal["auto"] = "auto",
    kind: Literal["binary", "real"] = "binary",
    alpha: float | Literal["learn"] = 2.0,
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Infinite max-margin harmonium: one or more views, a head, and as many units as prediction and data ask for.

    Parameters
    ----------
    truncation : int, default=100
        Largest number of units.
    families : dict, optional
        Name of view → family; default: inferred.
    task : {"classification", "regression"}, default="classification"
        What y holds.
    C : float or "auto", default="auto"
        Weight of the prediction loss; see `LinearHead`.
    kind : {"binary", "real"}, default="binary"
        What a unit is for an item that has it.
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori.
    **settings
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features, §V.

    Examples
    --------
    >>> iMMH(50, C=1.0).hidden
    IBP(truncation=50)
    """
    return MMH(families=families, task=task, C=C, **{"hidden": IBP(alpha, truncation, kind), **settings})


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
    return EFH(n_components, family, hidden=hidden, **_sampled(prior, settings))


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
    return DWH(n_components, families, **_sampled(prior, settings))


def TWH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Tri-wing harmonium: the label is one more view, and predicting is inferring it by mean field.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict, optional
        Name of view → family; default: inferred.
    task : {"classification", "regression"}, default="classification"
        A categorical or a Gaussian label.
    **settings
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    References
    ----------
    Yang et al. (2007), Mining concept from multimodal data with tri-wing harmoniums; Chen, Zhu, Sun & Xing (2012),
    Large-margin predictive latent subspace learning for multiview data analysis, §3.2.

    Examples
    --------
    >>> TWH(20).head
    LabelView()
    """
    return _model(
        {
            "n_components": n_components,
            "views": "infer" if families is None else families,
            "hidden": GaussianUnits(),
            "objective": SampledCD(),
            "head": LabelView(),
        },
        settings,
        _estimator(task),
    )


def DiscriminativeRBM(
    n_components: int = 50, family: Family | None = None, *, generative: float = 0.0, **settings: Any
) -> HarmoniumClassifier:
    """Discriminative RBM: binary units, the label as a view, exact conditional likelihood; ``generative`` > 0: hybrid.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    family : Family, optional
        Family of the view; default: inferred.
    generative : float, default=0.0
        Weight of the joint likelihood beside the conditional one; the paper's hybrid has 0.01 or so.
    **settings
        Other parameters of `HarmoniumClassifier`.

    References
    ----------
    Larochelle & Bengio (2008), Classification using discriminative restricted Boltzmann machines.

    Examples
    --------
    >>> DiscriminativeRBM(20, generative=0.01).objective
    Discriminative(generative=0.01)
    """
    return _model(
        {
            "n_components": n_components,
            "views": "infer" if family is None else family,
            "hidden": BernoulliUnits(),
            "objective": Discriminative(generative),
            "head": LabelView(inference="exact"),
        },
        settings,
        HarmoniumClassifier,
    )


def structDWH(n_components: int = 50, families: dict[str, Family] | None = None, **settings: Any) -> Harmonium:
    """Structured harmonium of sequences, such as paragraphs of texts: each word is a chain, topics shift its links.

    The paper trains it with `MeanFieldCD`, which can be passed as ``objective``.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict, optional
        Name of view → family, if there are views beside the sequences; default: X is `Sequences`.
    **settings
        Other parameters of `Harmonium`.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §3.1
    and §5.4.

    Examples
    --------
    >>> structDWH(20).views
    Chain()
    """
    return DWH(n_components, **{"views": Chain() if families is None else families, **settings})


def structMMH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    C: float | Literal["auto"] = "auto",
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Structured max-margin harmonium: `MMH` on sequences, in which each word is a chain over paragraphs.

    The paper has Gaussian units and mean-field contrastive divergence; pass ``hidden=GaussianUnits()`` and
    ``objective=MeanFieldCD(5)`` for that. The defaults here are those of `MMH`.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict, optional
        Name of view → family, if there are views beside the sequences; default: X is `Sequences`.
    task : {"classification", "regression"}, default="classification"
        What y holds.
    C : float or "auto", default="auto"
        Weight of the prediction loss; see `LinearHead`.
    **settings
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §5.4.

    Examples
    --------
    >>> structMMH(20, C=1.0).views
    Chain()
    """
    return MMH(n_components, task=task, C=C, **{"views": Chain() if families is None else families, **settings})


__all__ = [
    "BDWH",
    "BEFH",
    "DWH",
    "EFH",
    "MMH",
    "RAP",
    "RBM",
    "TWH",
    "DiscriminativeRBM",
    "iEFH",
    "iMMH",
    "structDWH",
    "structMMH",
]
