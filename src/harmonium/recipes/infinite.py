"""Harmoniums that infer how many units there are: Chen, Zhu, Sun & Zhang (2013)."""

from __future__ import annotations

from typing import Any, Literal

from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor
from harmonium.families import Family
from harmonium.heads.linear import USUAL_C
from harmonium.hidden import IBP
from harmonium.objectives import MeanFieldCD, SampledCD
from harmonium.recipes._assembly import Task, assemble
from harmonium.recipes.multiview import MMH


def iEFH(
    truncation: int = 100,
    families: dict[str, Family] | None = None,
    *,
    kind: Literal["binary", "real"] = "binary",
    alpha: float | Literal["learn"] = 2.0,
    published: bool = False,
    **settings: Any,
) -> Harmonium:
    """Make an infinite exponential family harmonium (iEFH), which infers its units.

    It takes one or more views. The paper learns by mean-field contrastive divergence, and infers spike and
    slab apart from each other.

    Parameters
    ----------
    truncation : int, default=100
        Largest number of units.
    families : dict of str to Family, optional
        Families of the views by name. By default they are inferred from the data.
    kind : {"binary", "real"}, default="binary"
        Value of a unit for an item that has it: 1, or a real number.
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori; see `IBP`.
    published : bool, default=False
        Whether to take the paper's configuration: ``IBP(inference="factorised")`` and
        ``objective=MeanFieldCD(1)``. Units are born and judged as by default; the paper's prior alone selects none.
    **settings : object
        Other parameters of `Harmonium`.

    Returns
    -------
    Harmonium
        An estimator that is not yet fitted.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features, §III-IV.

    Examples
    --------
    >>> iEFH(50, kind="real").hidden
    IBP(kind='real', truncation=50)
    """
    return assemble(Harmonium, families, _parts(alpha, truncation, kind, published), settings)


def iMMH(
    truncation: int = 100,
    families: dict[str, Family] | None = None,
    *,
    task: Task = "classification",
    C: float = USUAL_C,
    kind: Literal["binary", "real"] = "binary",
    alpha: float | Literal["learn"] = 2.0,
    published: bool = False,
    **settings: Any,
) -> HarmoniumClassifier | HarmoniumRegressor:
    """Make an infinite max-margin harmonium (iMMH), which infers its units.

    It takes one or more views. Its units are counted without labels, as those of `iEFH` are. If they say clearly less
    about the labels of held-out rows than the views do, others are added. The loss then moves all of them, and those
    without evidence go.

    Parameters
    ----------
    truncation : int, default=100
        Largest number of units.
    families : dict of str to Family, optional
        Families of the views by name. By default they are inferred from the data.
    task : {"classification", "regression"}, default="classification"
        Whether y holds classes or numbers.
    C : float, default=1.6
        Weight of the prediction loss; see `harmonium.heads.Hinge`.
    kind : {"binary", "real"}, default="binary"
        Value of a unit for an item that has it: 1, or a real number.
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori; see `IBP`.
    published : bool, default=False
        Whether to take the paper's configuration: ``IBP(inference="factorised")`` and
        ``objective=MeanFieldCD(1)``. Units are born and judged as by default; the paper's prior alone selects none.
    **settings : object
        Other parameters of `HarmoniumClassifier` or `HarmoniumRegressor`.

    Returns
    -------
    HarmoniumClassifier or HarmoniumRegressor
        An estimator that is not yet fitted.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features, §V.

    Examples
    --------
    >>> iMMH(50, C=1.0).hidden
    IBP(truncation=50)
    """
    return MMH(families=families, task=task, C=C, **_parts(alpha, truncation, kind, published) | settings)


def _parts(
    alpha: float | Literal["learn"], truncation: int, kind: Literal["binary", "real"], published: bool
) -> dict[str, Any]:
    """Return layer and objective: ours, or those of the paper."""
    if published:
        return {"hidden": IBP(alpha, truncation, kind, inference="factorised"), "objective": MeanFieldCD(1)}
    return {"hidden": IBP(alpha, truncation, kind), "objective": SampledCD()}
