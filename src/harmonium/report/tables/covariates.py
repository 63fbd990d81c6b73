"""Relations between topics and covariates of the items, with tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, kruskal, pearsonr

from harmonium.estimators import Harmonium
from harmonium.estimators.input.labels import in_order_of
from harmonium.estimators.input.read_input import as_data
from harmonium.queries.topics import topic_index
from harmonium.report.tables.latent import topic_means

# fewer known items say nothing about a relation
_FEWEST_ITEMS = 3


def covariate_table(model: Harmonium, X: Any, covariates: Any) -> pd.DataFrame:
    """Return how each topic goes with each covariate, with tests.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.
    covariates : DataFrame or mapping of str to array-like of shape (n_items,)
        What else is known of the items, such as age, treatment or survival; missing values are left out, covariate by
        covariate. A frame whose index names items as X does goes by the names.

    Returns
    -------
    DataFrame
        A row for each pair of topic and covariate, the smallest ``q`` first: ``topic``, ``covariate``, ``measure``,
        ``value``, the number of items ``n``, the probability ``p`` of so strong a relation by chance, and ``q``, that
        probability after the correction for all pairs. Numbers, zeros and ones too, have the measure "correlation";
        everything else is a class and has "eta squared", the share of the topic's variance between classes. Values are
        NaN where topic or covariate do not vary.

    Notes
    -----
    The tests are that of Pearson's correlation and that of Kruskal and Wallis, which looks at ranks alone. The
    correction is that of Benjamini and Hochberg: of the pairs with q ≤ 0.05, one in twenty is expected to be there by
    chance.

    Examples
    --------
    >>> from harmonium import Harmonium
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(50, 10, size=100)
    >>> X = np.outer(age, np.ones(20)) + rng.normal(0, 10, size=(100, 20))
    >>> model = Harmonium(5, hidden="factor", random_state=0).fit(X)
    >>> table = covariate_table(model, X, {"age": age, "batch": ["a", "b"] * 50})
    >>> table.loc[0, ["covariate", "measure"]].tolist(), bool(table.loc[0, "value"] ** 2 > 0.9)
    (['age', 'correlation'], True)
    """
    latent = topic_means(model, X).astype(np.float64)
    frame = _read(X, covariates, len(latent))
    rows = []
    for name, column in frame.items():
        observed = column.notna().to_numpy()
        is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        relate = _correlation if is_number else _between_classes
        values = column[observed].to_numpy(dtype=np.float64) if is_number else pd.factorize(column[observed])[0]
        for topic, factor in zip(topic_index(model.fitted_), latent.T, strict=True):
            value, p = relate(factor[observed], values)
            measure = "correlation" if is_number else "eta squared"
            rows.append((topic, name, measure, value, int(observed.sum()), p))
    table = pd.DataFrame(rows, columns=["topic", "covariate", "measure", "value", "n", "p"])
    tested = table["p"].notna()
    table.loc[tested, "q"] = false_discovery_control(table.loc[tested, "p"]) if tested.any() else np.nan
    return table.sort_values(["q", "p"], kind="stable", ignore_index=True)


def _read(X: Any, covariates: Any, n_rows: int) -> pd.DataFrame:
    """Return covariates as a frame in the order of X; refuse everything else."""
    if isinstance(covariates, Mapping):
        lengths = {name: len(values) for name, values in covariates.items()}
        wrong = [name for name, length in lengths.items() if length != n_rows]
        if wrong:
            raise ValueError(
                f"Covariates must have a value for each of the {n_rows} rows of X; {wrong[0]!r} has "
                f"{lengths[wrong[0]]}; pass values of the same items."
            )
        covariates = pd.DataFrame({name: _column(values) for name, values in covariates.items()})
    elif isinstance(covariates, pd.DataFrame):
        covariates = in_order_of(as_data(X), "covariates", covariates)
    else:
        raise TypeError(
            f"covariates must be a data frame or a dict of columns; got {type(covariates).__name__}; pass them by name."
        )
    if len(covariates) != n_rows or not len(covariates.columns):
        raise ValueError(
            f"covariates must have columns with a value for each of the {n_rows} rows of X; got shape "
            f"{covariates.shape}; pass what is known of the same items."
        )
    for name, values in covariates.select_dtypes("number").items():
        if np.isinf(values.to_numpy(dtype=float, na_value=np.nan)).any():
            raise ValueError(f"Covariates must be finite or missing; {name!r} has infinite values; correct them.")
    return covariates


def _column(values: Any) -> pd.Series:
    """Return values as a column, in which pandas tells numbers, classes and missing values apart."""
    return pd.Series(values if hasattr(values, "dtype") else list(values)).reset_index(drop=True)


def _correlation(factor: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return Pearson's correlation and its p-value; NaN if one of them does not vary."""
    if len(values) < _FEWEST_ITEMS or np.ptp(values) == 0 or np.ptp(factor) == 0:
        return float("nan"), float("nan")
    test = pearsonr(factor, values)
    return float(test.statistic), float(test.pvalue)


def _between_classes(factor: np.ndarray, classes: np.ndarray) -> tuple[float, float]:
    """Return the share of the variance between classes, and the p-value of Kruskal and Wallis."""
    groups = [factor[classes == number] for number in np.unique(classes)]
    total = float(np.square(factor - factor.mean()).sum()) if len(factor) else 0.0
    if len(factor) < _FEWEST_ITEMS or len(groups) < 2 or total == 0:
        return float("nan"), float("nan")
    between = sum(len(group) * (group.mean() - factor.mean()) ** 2 for group in groups)
    return float(between / total), float(kruskal(*groups).pvalue)
