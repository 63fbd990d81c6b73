"""Effects of covariates on topics, and topics over time and by group, with intervals and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, t

from harmonium.core.validation import check_real
from harmonium.estimators import Harmonium
from harmonium.queries.topics.effects import Regression, regress
from harmonium.queries.topics.features import topic_index
from harmonium.queries.topics.shown import unit_shares
from harmonium.report.tables.covariates import check_rows, read_covariates
from harmonium.report.tables.groups import read_groups
from harmonium.report.tables.latent import unit_naturals
from harmonium.report.tables.topics import topic_labels

# Periods that dates are cut into, at most: as many as one can read. Lengths of periods, the shortest first.
_MOST_PERIODS, _LENGTHS = 24, ("D", "W", "M", "Q", "Y")
_DAYS_OF_YEAR = 365.2425
# Share of topics with a trend that may have one by chance: a convention.
_FALSE = 0.05


def effect_table(
    model: Harmonium, X: Any, covariates: Any, level: float = 0.95, held_out: bool = False
) -> pd.DataFrame:
    """Return the effect of covariates on how much items have of each topic.

    All covariates stand in one regression for each topic, so that an effect is that of a covariate beside the others.
    What an item has of a topic is uncertain, which effects and intervals take into account: they are those of the topic
    itself, not of its estimate.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.
    covariates : DataFrame, mapping of str to array-like of shape (n_items,), str or list of str
        What else is known of the items. Numbers have one effect, that of 1 more; dates that of a year; everything else
        is a category, whose levels are compared with the first one. Items that lack one of them are left out. Or names
        of columns of the data frame X, which topics are then inferred without.
    level : float, default=0.95
        Probability that an interval holds the effect.
    held_out : bool, default=False
        Whether the items are ones that the model was not fitted on; see `covariate_table`.

    Returns
    -------
    DataFrame
        A row for each topic and effect: ``topic``, ``covariate``, ``level`` of a category, the ``effect`` on the
        topic's mean, the interval from ``low`` to ``high``, the probability ``p`` of so large an effect by chance, and
        ``q``, that probability after the correction of Benjamini and Hochberg for all rows. Where the regression of a
        topic gives some item more or less of it than an item can have, which happens with few items, items that tell
        little, and covariates with few extreme values, only the effect is there.

    See Also
    --------
    prevalence_table : Means of the topics by group or period.
    covariate_table : Correlations and rank tests of single covariates.

    Notes
    -----
    It answers the question of ``estimateEffect`` of the R package stm [1]_, whose method of composition draws topics of
    each item and regresses the draws. Here is the result for infinitely many draws, and covariates have their say in
    what is drawn: a regression of E[h | x] has effects that are too small, the more so the less the items tell of a
    topic. Standard errors allow variances that differ between items. Rows of a model that was fitted on the same items
    without the covariates make valid tests; effects are those on the topics that the model found.

    References
    ----------
    .. [1] M. E. Roberts, B. M. Stewart and D. Tingley, "stm: An R package for structural topic models", Journal of
       Statistical Software 91(2), 2019.

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> rng = np.random.default_rng(0)
    >>> is_new = np.arange(300) % 2
    >>> has_topic = rng.random(300) < 0.2 + 0.5 * is_new
    >>> words = (rng.random((300, 12)) < np.where(has_topic[:, None] == (np.arange(12) < 6), 0.8, 0.05)).astype(float)
    >>> model = TopicModel(2, random_state=0).fit(words)
    >>> table = effect_table(model, words, {"is_new": is_new, "colour": ["red", "green", "blue"] * 100})
    >>> table[["covariate", "level"]].drop_duplicates().to_numpy().tolist()
    [['is_new', ''], ['colour', 'green'], ['colour', 'red']]
    >>> bool((table.query("covariate == 'is_new'")["effect"].abs() > 0.4).all())
    True
    """
    check_level(level, "effect_table")
    X, frame = read_covariates(model, X, covariates, held_out)
    units = unit_naturals(model, X)
    check_rows(frame, len(units[0]))
    observed = frame.notna().all(axis=1).to_numpy()
    terms, design = _design(frame[observed])
    regression = _regression(model, units, np.flatnonzero(observed), design)
    table = _tested(regression, level).drop(index=0)
    table[["covariate", "level"]] = [terms[number - 1] for number in table.index]
    table = _corrected(table)
    table["topic"] = topic_index(model.fitted_)[table["topic"]]
    return table[["topic", "covariate", "level", "effect", "low", "high", "p", "q"]]


def prevalence_table(
    model: Harmonium, X: Any, by: Any, freq: str | None = None, level: float = 0.95, held_out: bool = False
) -> pd.DataFrame:
    """Return the mean of each topic by period or group, with intervals.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.
    by : array-like of shape (n_items,) or (n_items, n_labels), or str
        Date, class, label or number of each item, as for `class_table`; dates are cut into periods. Or the name of a
        column of the data frame X, which topics are then inferred without.
    freq : {"D", "W", "M", "Q", "Y"}, optional
        Length of the periods: days, weeks, months, quarters, years. Default: the shortest that makes at most 24.
    level : float, default=0.95
        Probability that an interval holds the mean.
    held_out : bool, default=False
        Whether the items are ones that the model was not fitted on; see `covariate_table`.

    Returns
    -------
    DataFrame
        A row for each topic and group: ``topic``, ``group``, number of items ``n``, ``prevalence`` and its interval
        from ``low`` to ``high``. The prevalence of a binary topic is the share of the items that have it.

    See Also
    --------
    trend_table : Topics that come up or fade away, with a test.

    Notes
    -----
    Items of which the model is unsure are judged by the others of their group, as in `effect_table`. So groups differ
    somewhat more than the means of ``transform``, in which such items are near the average of all.

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> words = np.kron(np.eye(2), np.ones((60, 6)))
    >>> model = TopicModel(2, random_state=0).fit(words)
    >>> prevalence_table(model, words, pd.date_range("2024-01-01", periods=120), "M").head(2)[["topic", "group", "n"]]
       topic    group   n
    0      0  2024-01  31
    1      0  2024-02  29
    """
    check_level(level, "prevalence_table")
    X, frame = read_covariates(model, X, by if isinstance(by, str) else {}, held_out)
    units = unit_naturals(model, X)
    groups = read_groups(X, read_periods(frame[by] if isinstance(by, str) else by, freq), len(units[0]))
    sizes = np.bincount(groups.numbers, minlength=len(groups.names))
    there = np.flatnonzero(sizes)
    design = (groups.numbers[:, None] == there).astype(np.float64)
    table = _tested(_regression(model, units, groups.items, design), level)
    support = model.fitted_.energy.hidden.groups.topics.support
    n_units = np.array([len(topic.units) for topic in model.fitted_.topics])[table["topic"], None]
    table[["low", "high"]] = np.clip(table[["low", "high"]], support.lower * n_units, support.upper * n_units)
    table["group"] = [groups.names[number] for number in there[table.index]]
    table["n"] = sizes[there[table.index]]
    table = table.rename(columns={"effect": "prevalence"}).sort_values("topic", kind="stable", ignore_index=True)
    table["topic"] = topic_index(model.fitted_)[table["topic"]]
    return table[["topic", "group", "n", "prevalence", "low", "high"]]


def trend_table(model: Harmonium, X: Any, by: Any, level: float = 0.95, held_out: bool = False) -> pd.DataFrame:
    """Return which topics emerge and which vanish over time, with a test.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    X : dict, Views, matrix, …
        Items, with any subset of the views.
    by : array-like of shape (n_items,), or str
        Date of each item, or a number such as the year. Or the name of a column of the data frame X, which topics are
        then inferred without.
    level : float, default=0.95
        Probability that an interval holds the change.
    held_out : bool, default=False
        Whether the items are ones that the model was not fitted on; see `covariate_table`.

    Returns
    -------
    DataFrame
        A row for each topic, the smallest ``q`` first, by topic number: its ``label``, the ``change`` of its mean in a
        year (or for 1 more of a number) with the interval from ``low`` to ``high``, ``p`` and ``q`` as in
        `effect_table`, and ``trend``: "emerging" or "vanishing" where q ≤ 0.05, so that one in twenty of these is
        expected to be there by chance; else "".

    Examples
    --------
    >>> from harmonium import TopicModel
    >>> words = np.kron(np.eye(2), np.ones((60, 6)))
    >>> model = TopicModel(2, random_state=0).fit(words)
    >>> sorted(trend_table(model, words, pd.date_range("2024-01-01", periods=120))["trend"])
    ['emerging', 'vanishing']
    """
    given = by if isinstance(by, str) else {"by": _as_series(by)}
    table = effect_table(model, X, given, level, held_out).set_index("topic")
    if (table["level"] != "").any() or table.index.has_duplicates:
        raise ValueError("A trend is one over dates or numbers; got categories; pass dates, or use effect_table.")
    table.insert(0, "label", topic_labels(model))
    sign = np.where(table["effect"] > 0, "emerging", "vanishing")
    table["trend"] = np.where(table["q"] <= _FALSE, sign, "")
    table = table.rename(columns={"effect": "change"}).drop(columns=["covariate", "level"])
    return table.sort_values(["q", "p"], kind="stable")


def read_periods(by: Any, freq: str | None = None) -> Any:
    """Return dates as ordered periods, and everything else as it is."""
    if freq is not None and freq not in _LENGTHS:
        raise ValueError(f"freq must be one of {', '.join(map(repr, _LENGTHS))}; got {freq!r}; None chooses one.")
    values = _as_series(by) if np.ndim(by) == 1 else by
    if not isinstance(values, pd.Series) or not pd.api.types.is_datetime64_any_dtype(values):
        if freq is not None:
            raise ValueError("freq is the length of periods; got no dates to cut into them; leave it out.")
        return by
    dates = values if values.dt.tz is None else values.dt.tz_localize(None)
    periods = [dates.dt.to_period(length) for length in ([freq] if freq else _LENGTHS)]
    chosen = next((one for one in periods if one.nunique() <= _MOST_PERIODS), periods[-1])
    texts = chosen.astype(str).where(values.notna(), None)
    # ordered as they follow each other: texts of periods sort like their dates
    return texts.astype(pd.CategoricalDtype(sorted(texts.dropna().unique()), ordered=True))


def _as_series(values: Any) -> pd.Series:
    """Return values as a series; dates of Python become those of pandas."""
    made = values if isinstance(values, pd.Series) else pd.Series(values if hasattr(values, "dtype") else list(values))
    return pd.to_datetime(made) if pd.api.types.infer_dtype(made) in ("date", "datetime") else made


def _design(frame: pd.DataFrame) -> tuple[list[tuple[Any, Any]], np.ndarray]:
    """Return the name and level of each effect, and the columns that stand for them, after a constant."""
    terms: list[tuple[Any, Any]] = []
    columns = [np.ones(len(frame))]
    for name, column in ((name, _as_series(values)) for name, values in frame.items()):
        if pd.api.types.is_datetime64_any_dtype(column):
            columns.append((column - column.min()).dt.total_seconds().to_numpy() / (86_400 * _DAYS_OF_YEAR))
            terms.append((name, ""))
        elif pd.api.types.is_numeric_dtype(column):
            columns.append(column.to_numpy(dtype=np.float64))
            terms.append((name, ""))
        else:
            codes, levels = pd.factorize(column, sort=True)
            columns += [(codes == number).astype(np.float64) for number in range(1, len(levels))]
            terms += [(name, level) for level in levels[1:]]
    design = np.column_stack(columns)
    # numbers that lie far from 0 are no reason to call columns dependent
    scaled = np.column_stack(
        [columns[0], *((column - column.mean()) / (column.std() or 1.0) for column in columns[1:])]
    )
    if not terms or np.linalg.matrix_rank(scaled) < design.shape[1] or len(design) <= design.shape[1]:
        raise ValueError(
            f"Covariates must vary, none by the others alone, over more items than there are effects; got "
            f"{len(terms)} effects that do not, over {len(design)} items; leave some out."
        )
    return terms, design


def _regression(
    model: Harmonium, units: tuple[np.ndarray, np.ndarray | None], rows: np.ndarray, design: np.ndarray
) -> Regression:
    """Return the regression of the topics of some items, from naturals of the units and shares of topics in them."""
    fitted, (natural, shares) = model.fitted_, units
    topics = unit_shares(fitted, None if shares is None else shares[rows]) if fitted.edits.operations else None
    layer = fitted.energy.layer(fitted.parameters).groups.topics
    return regress(layer, natural[rows, : fitted.n_topics], design, topics)


def _tested(regression: Regression, level: float) -> pd.DataFrame:
    """Return a row for each coefficient of each topic, by the number of the coefficient."""
    estimate, deviation = regression.coefficients, regression.deviations
    half = t.ppf(0.5 + level / 2, regression.freedom) * deviation
    known = np.divide(estimate, deviation, out=np.full_like(estimate, np.nan), where=deviation > 0)
    columns = {"effect": estimate, "low": estimate - half, "high": estimate + half}
    columns["p"] = 2 * t.sf(np.abs(known), regression.freedom)
    numbers, topics = np.indices(estimate.shape)
    table = pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index=numbers.ravel())
    table.insert(0, "topic", topics.ravel())
    return table


def _corrected(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table in the order of the topics, with probabilities corrected for all of its rows."""
    table = table.sort_values("topic", kind="stable", ignore_index=True)
    known = table["p"].notna()
    table["q"] = np.nan
    table.loc[known, "q"] = false_discovery_control(table.loc[known, "p"]) if known.any() else np.nan
    return table


def check_level(level: float, where: str) -> None:
    """Refuse levels of intervals that are no probability."""
    """Refuse levels of intervals that are no probability."""
    check_real(where, "level", level, remedy="0.95 is usual")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; got {level!r}; 0.95 is usual.")
