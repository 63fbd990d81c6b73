"""What moved a prediction: numbers that add up to its scores, and tables of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False)
class Explanation:
    """What the scores of one row are made of.

    For every output, ``scores = base + topics.sum(axis=0) + directly.sum(axis=0)``, and ``through`` adds up to the same
    as ``topics``: all of it up to rounding errors.

    Parameters
    ----------
    outputs : list of str
        Names of the scores: classes, labels or numbers.
    scores : ndarray of shape (n_outputs,)
        Scores of the row; numbers are in the units of the target.
    base : ndarray of shape (n_outputs,)
        Scores of the average item: what one would say without looking.
    topics : ndarray of shape (n_topics, n_outputs)
        By how much each topic moves the scores away from it.
    features : DataFrame
        A row for each feature: ``view``, ``feature``, and ``inferred``, whether the row lacks it and the model expects
        it. What words and tags that are not in the row add together is one feature called "(absent)", views that the
        row lacks are one called "(missing)", and what the average item has directly, "(average)".
    moves : ndarray of shape (n_features, n_topics)
        By how much each feature moves each topic.
    rates : ndarray of shape (n_topics, n_outputs)
        By how much a topic moves the scores.
    directly : ndarray of shape (n_features, n_outputs)
        What each feature adds to the scores past the topics.
    predicted : int
        Number of the output that is predicted; 0 if there are no classes.
    units : list of str
        Names of the topics and, after them, of other units that predict, such as "dimension_0".

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = HarmoniumRegressor(2, random_state=0).fit(X, X[:, 0])
    >>> why = model.explain(X[:1])[0]
    >>> bool(np.isclose(why.base + why.topics.sum(axis=0) + why.directly.sum(axis=0), model.predict(X[:1]))[0])
    True
    """

    outputs: list[str]
    scores: np.ndarray
    base: np.ndarray
    topics: np.ndarray
    features: pd.DataFrame
    moves: np.ndarray
    rates: np.ndarray
    directly: np.ndarray
    predicted: int = 0
    units: list[str] = field(default_factory=list)

    @property
    def through(self) -> np.ndarray:
        """What each feature adds to the scores through the topics.

        Of shape (n_features, n_outputs).
        """
        return self.moves @ self.rates

    def number_of(self, output: str | None = None) -> int:
        """Return the number of an output.

        Parameters
        ----------
        output : str, optional
            Its name. Default: what is predicted.

        Returns
        -------
        int
            Its place among ``outputs``.
        """
        if output is None:
            return self.predicted
        if output not in self.outputs:
            raise ValueError(f"An output is one of {', '.join(self.outputs[:20])}; got {output!r}; correct the name.")
        return self.outputs.index(output)

    def table(self, output: str | None = None) -> pd.DataFrame:
        """Return what each feature adds to a score, the largest first.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.

        Returns
        -------
        DataFrame
            Columns view, feature, inferred, through_topics, directly, total, which add up to the score less its base.
        """
        number = self.number_of(output)
        through, directly = self.through[:, number], self.directly[:, number]
        parts = self.features.assign(through_topics=through, directly=directly, total=through + directly)
        return parts.iloc[np.argsort(-np.abs(parts["total"].to_numpy()), kind="stable")].reset_index(drop=True)

    def topic_table(self, output: str | None = None) -> pd.DataFrame:
        """Return what each topic adds to a score, the largest first.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.

        Returns
        -------
        DataFrame
            Columns topic, which numbers the units, their names, unit, and total.
        """
        total = self.topics[:, self.number_of(output)]
        order = np.argsort(-np.abs(total), kind="stable")
        return pd.DataFrame({"topic": order, "unit": [self.units[unit] for unit in order], "total": total[order]})

    def within(self, topic: int, output: str | None = None) -> pd.DataFrame:
        """Return what each feature adds to a score through one topic, the largest first.

        Parameters
        ----------
        topic : int
            Number of the topic.
        output : str, optional
            Name of the score. Default: what is predicted.

        Returns
        -------
        DataFrame
            Columns view, feature, inferred, total, which add up to what the topic adds.
        """
        total = self.moves[:, topic] * self.rates[topic, self.number_of(output)]
        order = np.argsort(-np.abs(total), kind="stable")
        return self.features.assign(total=total).iloc[order].reset_index(drop=True)

    def to_dict(self, output: str | None = None, n: int = 10) -> dict[str, Any]:
        """Return the explanation of a score as JSON can hold it.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.
        n : int, default=10
            Number of topics, of features, and of features of each topic; what is left of each is one number ``rest``.

        Returns
        -------
        dict
            Entries ``output``, ``score``, ``base``; ``topics``, a list of dicts with ``topic``, ``unit``, ``total``
            and ``features``; ``features``, a list of dicts with the columns of `table`; ``topics_rest`` and
            ``features_rest``.
        """
        number = self.number_of(output)
        topics, features = self.topic_table(output), self.table(output)
        listed = []
        for topic, unit, total in topics.head(n).itertuples(index=False):
            within = self.within(int(topic), output).head(n).to_dict("records")
            listed.append({"topic": int(topic), "unit": unit, "total": float(total), "features": within})
        return {
            "output": self.outputs[number],
            "score": float(self.scores[number]),
            "base": float(self.base[number]),
            "topics": listed,
            "topics_rest": float(topics["total"][n:].sum()),
            "features": features.head(n).to_dict("records"),
            "features_rest": float(features["total"][n:].sum()),
        }
