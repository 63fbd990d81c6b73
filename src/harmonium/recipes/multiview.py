"""Several views, labels and sequences: Chen, Zhu, Sun & Xing (2012), and the models that they build on."""

from __future__ import annotations

from typing import Any, Literal

from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor
from harmonium.families import Chain, Family
from harmonium.heads import EpsilonInsensitive, Hinge, LabelView
from harmonium.heads.linear import USUAL_C
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.objectives import MeanFieldCD, SampledCD
from harmonium.recipes._assembly import Task, assemble, estimator_for
from harmonium.training import LBFGS


def DWH(
    n_components: int = 50, families: dict[str, Family] | None = None, *, published: bool = False, **settings: Any
) -> Harmonium:
    """Make a dual-wing harmonium (DWH): a binary and a real-valued view.

    Units are Gaussian, and training uses sampled contrastive divergence. The papers train with five
    mean-field steps (``published=True``); between two Gaussian layers, however, means alone do not hold the weights
    back, and they grow to the edge of what can be normalised.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict of str to Family, optional
        Families of the views by name, such as ``{"tags": Bernoulli(), "colour": Gaussian()}``. By default they are
        inferred from the data: Bernoulli for binary and Gaussian for real-valued views.
    published : bool, default=False
        Whether to take the paper's configuration: ``objective=MeanFieldCD(5)``.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

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
    objective = MeanFieldCD(5) if published else SampledCD()
    parts = {"n_components": n_components, "hidden": GaussianUnits(), "objective": objective}
    return assemble(Harmonium, families, parts, settings)


def TWH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    published: bool = False,
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Make a tri-wing harmonium (TWH), in which the label is one more view.

    To predict is to infer the label by mean field. Classes are learned as published, by five steps of mean-field
    contrastive divergence. Numbers are learned by sampled CD: between Gaussian units and a Gaussian label, mean field
    drives weights to the bound of what can be normalised.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict of str to Family, optional
        Families of the views by name. By default they are inferred from the data.
    task : {"classification", "regression"}, default="classification"
        Whether y holds classes or numbers: the label is categorical or Gaussian.
    published : bool, default=False
        Whether to take the paper's configuration: ``objective=MeanFieldCD(5)`` for numbers
        too.
    **settings : object
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    Returns
    -------
    HarmoniumClassifier or HarmoniumRegressor
        An estimator that is not yet fitted.

    References
    ----------
    Yang et al. (2007), Mining concept from multimodal data with tri-wing harmoniums; Chen, Zhu, Sun & Xing (2012),
    Large-margin predictive latent subspace learning for multiview data analysis, §3.2.

    Examples
    --------
    >>> TWH(20).head
    LabelView()
    """
    objective = MeanFieldCD(5) if published or task == "classification" else SampledCD()
    parts = {"hidden": GaussianUnits(), "objective": objective, "head": LabelView()}
    return assemble(estimator_for(task), families, {"n_components": n_components, **parts}, settings)


def MMH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    C: float = USUAL_C,
    published: bool = False,
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Make a max-margin harmonium (MMH), whose topics are trained to predict.

    It has one or more views, and a hinge or ε-insensitive head. The paper has Gaussian units, mean-field contrastive
    divergence and an SVM solved in turn with L-BFGS steps (``published=True``). The defaults here are binary units and
    joint stochastic steps with sampled CD. As in the paper, all that is predicted goes through the
    topics: there is no linear part.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict of str to Family, optional
        Families of the views by name. By default they are inferred from the data.
    task : {"classification", "regression"}, default="classification"
        Whether y holds classes or numbers.
    C : float, default=1.6
        Weight of the prediction loss; see `harmonium.heads.Hinge`.
    published : bool, default=False
        Whether to take the paper's configuration: ``hidden=GaussianUnits()``,
        ``objective=MeanFieldCD(5)``, a head with ``solver="alternate"`` and ``driver=LBFGS()``.
    **settings : object
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    Returns
    -------
    HarmoniumClassifier or HarmoniumRegressor
        An estimator that is not yet fitted.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §4.

    Examples
    --------
    >>> MMH(20, C=1.0).head
    Hinge(C=1.0, linear_part=False)
    >>> MMH(20, task="regression").head
    EpsilonInsensitive(C=1.6, linear_part=False)
    """
    solver: Literal["joint", "alternate"] = "alternate" if published else "joint"
    make = Hinge if task == "classification" else EpsilonInsensitive
    parts: dict[str, Any] = {"hidden": BernoulliUnits(), "objective": SampledCD()}
    if published:
        parts = {"hidden": GaussianUnits(), "objective": MeanFieldCD(5), "driver": LBFGS()}
    parts |= {"n_components": n_components, "head": make(C, solver=solver, linear_part=False)}
    return assemble(estimator_for(task), families, parts, settings)


def structDWH(
    n_components: int = 50, families: dict[str, Family] | None = None, *, published: bool = False, **settings: Any
) -> Harmonium:
    """Make a structured harmonium (structDWH) of sequences, such as paragraphs.

    Each word is a Markov chain over the paragraphs, and topics shift its links. The paper trains with five
    mean-field steps.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict of str to Family, optional
        Families of the views by name, if there are others besides the sequences. By default X is `Sequences`.
    published : bool, default=False
        Whether to take the paper's configuration: ``objective=MeanFieldCD(5)``.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §3.1
    and §5.4.

    Examples
    --------
    >>> structDWH(20).views
    Chain()
    """
    return DWH(n_components, published=published, **{"views": Chain() if families is None else families, **settings})


def structMMH(
    n_components: int = 50,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    C: float = USUAL_C,
    published: bool = False,
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Make a structured max-margin harmonium (structMMH): `MMH` on sequences.

    Each word is a Markov chain over the paragraphs. The defaults, and the paper's configuration, are those
    of `MMH`.

    Parameters
    ----------
    n_components : int, default=50
        Number of units.
    families : dict of str to Family, optional
        Families of the views by name, if there are others besides the sequences. By default X is `Sequences`.
    task : {"classification", "regression"}, default="classification"
        Whether y holds classes or numbers.
    C : float, default=1.6
        Weight of the prediction loss; see `harmonium.heads.Hinge`.
    published : bool, default=False
        Whether to take the paper's configuration: ``hidden=GaussianUnits()``,
        ``objective=MeanFieldCD(5)``, a head with ``solver="alternate"`` and ``driver=LBFGS()``.
    **settings : object
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    Returns
    -------
    HarmoniumClassifier or HarmoniumRegressor
        An estimator that is not yet fitted.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §5.4.

    Examples
    --------
    >>> structMMH(20, C=1.0).views
    Chain()
    """
    views = Chain() if families is None else families
    return MMH(n_components, task=task, C=C, published=published, **{"views": views, **settings})
