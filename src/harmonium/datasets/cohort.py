"""A cohort of patients whose factors are known: several assays, some of which are missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from harmonium.datasets._base import checked_generator

# Variables of each assay, and the share of their variance that each factor explains: what is to be found again. The
# first factor runs through all assays, the second and third through two, the others are matters of one.
_ASSAYS = {"drugs": 60, "methylation": 300, "mutations": 25, "rna": 400}
_FACTORS = {
    "subtype": {"drugs": 0.20, "methylation": 0.20, "mutations": 0.15, "rna": 0.15},
    "trisomy": {"mutations": 0.15, "rna": 0.15},
    "stress": {"drugs": 0.15, "rna": 0.10},
    "age": {"methylation": 0.15},
    "viability": {"drugs": 0.20},
}
# Share of the variables of an assay that a factor concerns: few, so that factors can be read.
_CONCERNED = 0.3


def make_cohort(n_rows: int = 200, *, missing_views: float = 0.0, random_state: int = 0) -> Bunch:
    """Make a cohort of patients: four assays that five factors run through.

    Drug responses, methylation and RNA are real numbers, mutations are 0 or 1. A factor concerns three tenths of the
    variables of some assays.

    Parameters
    ----------
    n_rows : int, default=200
        Number of patients.
    missing_views : float, default=0.0
        Share of the patients that lack an assay, for each assay but the mutations.
    random_state : int, default=0
        Seed. Equal seeds make equal cohorts.

    Returns
    -------
    Bunch
        ``views``, a dict of DataFrames: drugs (60 columns), methylation (300), mutations (25) and rna (400), NaN
        throughout where a patient lacks the assay. ``clinical``, a DataFrame of the subtype ("A" or "B", the sign of
        the first factor), trisomy (0 or 1) and age, none of which is among the assays; ``target``, the subtype. The
        truth: ``factors``, a DataFrame of the factors of each patient; ``weights``, a dict of DataFrames of the weights
        of each variable; ``explained``, a DataFrame of the share of an assay that a factor explains; ``complete``, the
        assays before some were taken away. ``DESCR`` says the same in a sentence.

    See Also
    --------
    load_cll : A cohort of real patients.

    Examples
    --------
    >>> cohort = make_cohort(100, missing_views=0.2)
    >>> {name: view.shape[1] for name, view in cohort.views.items()}
    {'drugs': 60, 'methylation': 300, 'mutations': 25, 'rna': 400}
    >>> int(cohort.views["rna"].isna().all(axis=1).sum())
    20
    """
    rng = checked_generator("make_cohort", n_rows, random_state, missing_views=missing_views)
    patients = [f"P{number:03d}" for number in range(1, n_rows + 1)]
    factors = pd.DataFrame(rng.normal(size=(n_rows, len(_FACTORS))), index=patients, columns=list(_FACTORS))
    explained = pd.DataFrame(_FACTORS).reindex(list(_ASSAYS)).fillna(0.0)
    weights = {assay: _weights(rng, assay, explained.loc[assay]) for assay in _ASSAYS}
    complete = {assay: _measured(rng, assay, factors, own) for assay, own in weights.items()}
    views = {assay: table.copy() for assay, table in complete.items()}
    for assay in [name for name in views if name != "mutations"]:
        views[assay].iloc[rng.permutation(n_rows)[: round(missing_views * n_rows)]] = np.nan
    clinical = pd.DataFrame(
        {
            "subtype": np.where(factors["subtype"] > 0, "A", "B"),
            "trisomy": (factors["trisomy"] > 1.0).astype(int),
            "age": np.clip(np.round(65 + 9 * factors["age"]), 18, 99).astype(int),
        },
        index=patients,
    )
    return Bunch(
        views=views,
        clinical=clinical,
        target=clinical["subtype"],
        factors=factors,
        weights=weights,
        explained=explained,
        complete=complete,
        DESCR="A made-up cohort; five planted factors run through drug response, methylation, mutations and RNA.",
    )


def _weights(rng: np.random.Generator, assay: str, explained: pd.Series) -> pd.DataFrame:
    """Return weights whose squares, averaged over the variables, are the shares that factors explain."""
    size = (_ASSAYS[assay], len(explained))
    weights = np.where(rng.random(size) < _CONCERNED, rng.normal(size=size), 0.0)
    weights[0] += 1e-6  # a factor concerns some variable
    weights *= np.sqrt(explained.to_numpy() / np.square(weights).mean(axis=0))
    names = [f"{assay}_{number}" for number in range(1, size[0] + 1)]
    return pd.DataFrame(weights, index=names, columns=explained.index)


def _measured(rng: np.random.Generator, assay: str, factors: pd.DataFrame, weights: pd.DataFrame) -> pd.DataFrame:
    """Return an assay of all patients: what the factors say and noise, of variance 1; mutations if it is above 1."""
    # what one variable has too much of the factors, it has too little of noise; a tenth is left in any case
    noise = np.sqrt(np.clip(1.0 - np.square(weights).sum(axis=1), 0.1, None))
    values = factors @ weights.T + rng.normal(size=(len(factors), len(weights))) * noise.to_numpy()
    return (values > 1.0).astype(float) if assay == "mutations" else values
