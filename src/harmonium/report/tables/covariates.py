"""Relations between topics and covariates of the items, with tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, kruskal, pearsonr

from harmonium.estimators import Harmonium
from harmonium.estimators.checking import check_model
from harmonium.estimators.input.labels import in_order_of
from harmonium.estimators.input.read_input import as_data
from harmonium.queries.topics.features import topic_index
from harmonium.report.tables.latent import topic_means
from harmonium.views.frames import as_frame, is_frame

# fewer known items say nothing about a relation
_FEWEST_ITEMS = 3


def covariate_table(model: Harmonium, X: Any, covariates: Any, held_out: bool = False) -> pd.DataFrame:
    """Return how each topic goes with each covariate, with tests.

    Each covariate is taken by itself; `effect_table` has effects of several at once, with intervals.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.
    covariates : DataFrame, mapping of str to array-like of shape (n_items,), str or list of str
        What else is known of the items, such as age, treatment or survival; missing values are left out, covariate by
        covariate. A frame whose index names items as X does goes by the names. Or names of columns of the data frame X,
        which topics are then inferred without.
    held_out : bool, default=False
        Whether the items are ones that the model was not fitted on. Models that were told a target know more of those
        they were fitted on than chance allows, so that they are refused without it.

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
    X, frame = read_covariates(model, X, covariates, held_out)
    latent = topic_means(model, X).astype(np.float64)
    check_rows(frame, len(latent))
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


def read_covariates(model: Harmonium, X: Any, covariates: Any, held_out: bool) -> tuple[Any, pd.DataFrame]:
    """Return X without what is asked about, and covariates as a frame in its order; refuse those a model was told."""
    check_model(model)
    if model.fitted_.meaning is not None and not held_out:
        raise ValueError(
            "Tests of topics need items that a model which was told a target was not fitted on, or they hold whatever "
            f"it was told; got {type(model).__name__} without held_out=True; pass other items and held_out=True, or "
            "fit the topics without a target, by TopicModel."
        )
    named = [covariates] if isinstance(covariates, str) else covariates
    if isinstance(named, list) and all(isinstance(name, str) for name in named):
        X, covariates = _columns_apart(X, named)
    elif isinstance(covariates, Mapping):
        lengths = {name: len(values) for name, values in covariates.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"Covariates must have as many values as X has rows; got {lengths}; pass the same items.")
        covariates = pd.DataFrame({name: _column(values) for name, values in covariates.items()})
    elif isinstance(covariates, pd.DataFrame):
        covariates = in_order_of(as_data(X), "covariates", covariates)
    else:
        raise TypeError(
            f"covariates must be a data frame or a dict of columns; got {type(covariates).__name__}; pass them by name."
        )
    for name, values in covariates.select_dtypes("number").items():
        if np.isinf(values.to_numpy(dtype=float, na_value=np.nan)).any():
            raise ValueError(f"Covariates must be finite or missing; {name!r} has infinite values; correct them.")
    read = () if model.fitted_.table is None else [column.name for column in model.fitted_.table.columns]
    inside = [name for name in covariates if name in read and name in getattr(X, "columns", read)]
    if inside:
        raise ValueError(
            f"Topics must be inferred without a covariate to be tested against it; the model reads {inside[0]!r} from "
            "X; pass X without it, or its name alone."
        )
    return X, covariates


def check_rows(covariates: pd.DataFrame, n_rows: int) -> None:
    """Refuse covariates of other items."""
    if len(covariates) != n_rows or not len(covariates.columns):
        raise ValueError(
            f"covariates must have columns with a value for each of the {n_rows} rows of X; got shape "
            f"{covariates.shape}; pass what is known of the same items."
        )


def _columns_apart(X: Any, names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a data frame without some of its columns, and these."""
    table = as_frame("X", X) if is_frame(X) else None
    if table is None:
        raise TypeError(
            f"Names of covariates are those of columns of a data frame; X is {type(X).__name__}; pass their values."
        )
    frame = table.to_pandas()
    lacking = [name for name in names if name not in frame.columns]
    if lacking or not names:
        raise ValueError(f"X must have the columns that are named; it lacks {lacking}; correct the names.")
    return frame.drop(columns=names), frame[names]


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
