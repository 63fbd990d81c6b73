"""Rivals that predict a column of a raw data frame: skrub, CatBoost, LightGBM and linear models.

`Columns` says what each column is, by a rule that all rivals but skrub share: strings that repeat are categories,
strings of more than 40 values are texts, and a column may be both. Where strengths are chosen, it is on training rows.
What is not needed to import this module is imported where it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.preprocessing import OneHotEncoder

from benchmarks.rivals.prepared import FOLDS, RIVALS, Preparation, trivial, tuned

FEW_LEVELS = 40  # strings of more values are texts; so says skrub
REPEATS = 2.0  # rows a value on average, from which strings are categories
STRENGTHS = np.logspace(-3, 3, 7)  # of the linear model behind skrub
N_WORDS, N_CHARACTERS = 2000, 20_000  # of a text at most: words for LightGBM, n-grams for linear models
CATBOOST_ROWS = 50  # of a word that CatBoost knows
WAYS = ("binary", "log-counts × idf, unit rows")  # how linear models may weigh words, n-grams and categories


@dataclass(frozen=True)
class Columns:
    """What the columns of a frame are.

    Parameters
    ----------
    numbers, categories, texts : list of str
        Columns of each kind; a column can be a category and a text.
    """

    numbers: list[str]
    categories: list[str]
    texts: list[str]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Columns:
        """Return what the columns of training rows are.

        Examples
        --------
        >>> names = [f"bike {number}" for number in range(50)]
        >>> frame = pd.DataFrame({"name": names * 2, "page": range(100), "place": ["Rome", "Oslo"] * 50})
        >>> Columns.of(frame)
        Columns(numbers=['page'], categories=['name', 'place'], texts=['name'])
        """
        numbers = [name for name in frame if frame[name].dtype.kind in "iuf"]
        strings = [name for name in frame if name not in numbers]
        levels = {name: frame[name].nunique() for name in strings}
        categories = [
            name for name in strings if levels[name] <= FEW_LEVELS or len(frame) >= REPEATS * max(levels[name], 1)
        ]
        return cls(numbers, categories, [name for name in strings if levels[name] > FEW_LEVELS])


def filled(frame: pd.DataFrame, names: str | list[str], text: str = "") -> Any:
    """Return one column of strings, or several, without missing values."""
    part = frame[names].astype(object)
    return part.where(part.notna(), text).astype(str)


# ---- rivals ----------------------------------------------------------------------------------------------------------
def without_looking(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, classes: bool) -> np.ndarray:
    """Predict the most frequent class, or the mean."""
    return trivial(y.to_numpy(), len(test), classes).predicted


def skrub_boosting(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, classes: bool) -> np.ndarray:
    """Predict by skrub's default: histogram boosting on what its `TableVectorizer` makes."""
    from skrub import tabular_pipeline

    return tabular_pipeline("classifier" if classes else "regressor").fit(train, y).predict(test)


def skrub_linear(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, classes: bool) -> np.ndarray:
    """Predict by skrub's pipeline that ends with a linear model, whose strength is chosen by cross-validation."""
    from skrub import tabular_pipeline

    logistic = LogisticRegressionCV(Cs=STRENGTHS, cv=FOLDS, max_iter=300, use_legacy_attributes=False)
    return tabular_pipeline(logistic if classes else RidgeCV(STRENGTHS)).fit(train, y).predict(test)


def catboost(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, classes: bool) -> np.ndarray:
    """Predict by CatBoost, told which columns are categories and which are texts; what could be both is a category."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    columns = Columns.of(train)
    texts = {name: f"{name} (text)" for name in columns.texts if name not in columns.categories}
    texts = {name: text for name, text in texts.items() if _has_usual_words(train[name])}

    def made(frame: pd.DataFrame) -> pd.DataFrame:
        strings = filled(frame, list(texts)).replace(r"\W+", " ", regex=True).rename(columns=texts)
        return pd.concat([frame[columns.numbers], filled(frame, columns.categories, "missing"), strings], axis=1)

    model = (CatBoostClassifier if classes else CatBoostRegressor)(
        cat_features=columns.categories,
        text_features=list(texts.values()),
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    return np.ravel(model.fit(made(train), y).predict(made(test)))


def lightgbm(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, classes: bool) -> np.ndarray:
    """Predict by LightGBM on numbers, one-hot categories and tf-idf of the words of each text."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    columns = Columns.of(train)
    # a sparse matrix keeps missing numbers as not-a-number
    parts = [[scipy.sparse.csr_array(frame[columns.numbers].to_numpy(dtype=float))] for frame in (train, test)]
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    makers: list[tuple[Any, Any]] = [(TfidfVectorizer(max_features=N_WORDS), name) for name in columns.texts]
    makers += [(encoder, columns.categories)] if columns.categories else []
    for maker, names in makers:
        parts[0].append(maker.fit_transform(filled(train, names)))
        parts[1].append(maker.transform(filled(test, names)))
    model = (LGBMClassifier if classes else LGBMRegressor)(random_state=0, verbose=-1)
    matrices = [scipy.sparse.csr_matrix(scipy.sparse.hstack(one), dtype=np.float32) for one in parts]
    return model.fit(matrices[0], y.to_numpy()).predict(matrices[1])


def words_and_characters(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, classes: bool) -> np.ndarray:
    """Predict by a ridge or a logistic regression on words, character n-grams, one-hot categories and numbers.

    Its strength, and how words are weighted, is chosen by cross-validation.
    """
    seen, new = described(train, test)
    ways = [Preparation(tuple(seen), words) for words in WAYS]
    return tuned(RIVALS["logistic regression" if classes else "ridge"], seen, y.to_numpy(), new, ways=ways).predicted


def described(train: pd.DataFrame, test: pd.DataFrame) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return words, character n-grams, one-hot categories and numbers of training and test rows, as views."""
    columns = Columns.of(train)
    seen: dict[str, Any] = {}
    new: dict[str, Any] = {}

    def add(view: str, maker: Any, names: str | list[str]) -> None:
        try:
            seen[view] = scipy.sparse.csr_array(maker.fit_transform(filled(train, names)), dtype=np.float64)
        except ValueError:  # a text without words that occur twice
            return
        new[view] = scipy.sparse.csr_array(maker.transform(filled(test, names)), dtype=np.float64)

    for name in columns.texts:
        characters = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5), min_df=3, max_features=N_CHARACTERS)
        add(f"{name}, words", CountVectorizer(min_df=2), name)
        add(f"{name}, characters", characters, name)
    if columns.categories:
        add("categories", OneHotEncoder(handle_unknown="ignore", min_frequency=2), columns.categories)
    if columns.numbers:
        medians = train[columns.numbers].median()
        seen["numbers"], new["numbers"] = (
            frame[columns.numbers].fillna(medians).to_numpy(dtype=float) for frame in (train, test)
        )
    return seen, new


def _has_usual_words(texts: pd.Series) -> bool:
    """Return whether a word occurs often enough to be one of CatBoost's, which refuses texts without any."""
    words = texts.dropna().astype(str).str.replace(r"\W+", " ", regex=True).str.split().map(set).explode()
    return bool((words.value_counts() >= CATBOOST_ROWS).any())


Predictor = Callable[[pd.DataFrame, pd.Series, pd.DataFrame, bool], np.ndarray]
FRAME_RIVALS: dict[str, Predictor] = {
    "most frequent class, or mean": without_looking,
    "skrub, boosting": skrub_boosting,
    "skrub, linear model": skrub_linear,
    "CatBoost, texts and categories": catboost,
    "LightGBM, tf-idf": lightgbm,
    "linear model, words + characters + one-hot": words_and_characters,
}


def predicted(name: str, train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, classes: bool) -> np.ndarray:
    """Return what a rival predicts for test rows, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FRAME_RIVALS[name](train, y, test, classes)
