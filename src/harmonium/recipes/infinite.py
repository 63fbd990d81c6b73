"""Harmoniums that infer how many units there are: Chen, Zhu, Sun & Zhang (2013)."""

from __future__ import annotations

from typing import Any, Literal

from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor
from harmonium.families import Family
from harmonium.hidden import IBP
from harmonium.objectives import SampledCD
from harmonium.recipes._assembly import Task, assemble
from harmonium.recipes.multiview import MMH


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
    return assemble(
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
