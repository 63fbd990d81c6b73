"""The explanation of a prediction: numbers that add up to its scores, and tables of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from harmonium.core.extras import require
from harmonium.training.topic_edits import ShownTopic, TopicEdits

#: what is not in a row: words and tags together, and views as a whole
ABSENT, MISSING = "(absent)", "(missing)"
#: what trees add as they ask for the linear scores of all views, or of one
ALL_SCORES, LINEAR_SCORE = "(all)", "(linear score)"
#: units that are no topics, and the parts of the scores that do not come through units
DIMENSIONS, INPUTS, CURVES = "dimensions", "inputs", "curves"
# features that are printed and drawn: a convention
_LINES = 10
#: topics that were hidden by hand, together
HIDDEN = "hidden topics"


@dataclass(frozen=True, eq=False, repr=False)
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
        Scores of the average item: what one would say without looking. They are the same for all rows.
    features : DataFrame
        A row for each feature: ``view``, or the column of a table that it belongs to; ``feature``; and ``present``,
        whether the row has it. If not, the model expects it; words and tags that are not in the row are together one
        feature called "(absent)", and views that the row lacks one called "(missing)". Trees may ask for linear scores
        beside columns: what they add for that is a feature called "(linear score)", of view "(all)" or of one view.
    moves : ndarray of shape (n_features, n_units)
        By how much each feature moves each hidden unit.
    rates : ndarray of shape (n_units, n_outputs)
        By how much a unit moves the scores.
    directly : ndarray of shape (n_features, n_outputs)
        What each feature adds to the scores past the units, curves included.
    predicted : int
        Number of the output that is predicted; 0 if there are no classes.
    labels : list of str
        Labels of the topics.
    curves : ndarray of shape (n_features, n_outputs), optional
        What the curve of each feature adds; None if the model has no curves.
    log_offset : ndarray of shape (n_outputs,), optional
        The c of numbers that are learned as log(y + c): what adds to their scores multiplies y + c. NaN for all other
        outputs; None if no output is a logarithm.
    limits : ndarray of shape (2, n_outputs), optional
        Lowest and highest number that is predicted, such as 1 and 5 stars; infinite where there is no such end.
    shown : tuple of ShownTopic, optional
        Topics as they are shown. Default: a unit for each label.
    n_topic_units : int, optional
        Number of units that topics are made of, which come first; others are dimensions. Default: as many as labels.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = HarmoniumRegressor(2, random_state=0).fit(X, X[:, 0])
    >>> why = model.explain(X[:1])[0]
    >>> bool(np.isclose(why.base + why.table()["total"].sum(), model.predict(X[:1]))[0])
    True
    >>> why.table(by="topic").columns.tolist()
    ['unit', 'label', 'total']
    """

    outputs: list[str]
    scores: np.ndarray
    base: np.ndarray
    features: pd.DataFrame
    moves: np.ndarray
    rates: np.ndarray
    directly: np.ndarray
    predicted: int = 0
    labels: list[str] = field(default_factory=list)
    curves: np.ndarray | None = None
    log_offset: np.ndarray | None = None
    limits: np.ndarray | None = None
    shown: tuple[ShownTopic, ...] = ()
    n_topic_units: int | None = None

    def __repr__(self) -> str:
        number = self.predicted
        end = self.stops_at()
        stops = "" if end is None else f" (the scale ends at {end:g}, which is predicted)"
        head = (
            f"{self.outputs[number]}: {self.scores[number]:.4g}{stops}, of which {self.base[number]:.4g} is the "
            "average item's"
        )
        table = self.table()[["view", "feature", "total"]]
        rest = f"\n… {len(table) - _LINES} more in table()" if len(table) > _LINES else ""
        return f"{head}\n{table.head(_LINES).to_string(index=False, float_format='{:+.4f}'.format)}{rest}"

    def plot(self, output: str | None = None, n: int = _LINES, ax: Any = None) -> Any:
        """Draw what adds most to a score, as bars to both sides of zero.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.
        n : int, default=10
            Number of features.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        Axes
            What was drawn.
        """
        if ax is None:
            ax = require("matplotlib.pyplot", "A plot of an explanation").subplots(layout="constrained")[1]
        table = self.table(output).head(n)[::-1]
        names = [f"{view}: {feature}" for view, feature in zip(table["view"], table["feature"], strict=True)]
        ax.barh(range(len(table)), table["total"], color=["C0" if total > 0 else "C3" for total in table["total"]])
        ax.set_yticks(range(len(table)), names)
        ax.axvline(0.0, color="0.4", linewidth=1)
        ax.set_xlabel(f"adds to {self.outputs[self.number_of(output)]}")
        return ax

    @property
    def topics(self) -> np.ndarray:
        """What each hidden unit, topics first, adds to the scores.

        Of shape (n_units, n_outputs).
        """
        return np.asarray(self.moves.sum(axis=0)[:, None] * self.rates)

    @property
    def through(self) -> np.ndarray:
        """What each feature adds to the scores through the hidden units.

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

    def scale_of(self, output: str | None = None) -> str:
        """Return the scale on which the parts of a score add up.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.

        Returns
        -------
        str
            "log(y)", "log(y + 12)" and the like for numbers that are learned as logarithms; else "linear".
        """
        offset = np.nan if self.log_offset is None else float(self.log_offset[self.number_of(output)])
        if np.isnan(offset):
            return "linear"
        return f"log(y + {offset:.6g})" if offset else "log(y)"

    def stops_at(self, output: str | None = None) -> float | None:
        """Return the end of a scale, such as 5 stars, that is predicted as the score is beyond it.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.

        Returns
        -------
        float or None
            The end; None if the score is not beyond any.
        """
        number = self.number_of(output)
        if self.limits is None or self.scale_of(output) != "linear":
            return None
        end, score = float(np.clip(self.scores[number], *self.limits[:, number])), float(self.scores[number])
        return None if end == score else end

    def table(
        self,
        output: str | None = None,
        by: Literal["feature", "view", "topic"] = "feature",
        unit: str | None = None,
    ) -> pd.DataFrame:
        """Return what adds up to a score, the largest first.

        What the row has not comes last, whatever its size.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.
        by : {"feature", "view", "topic"}, default="feature"
            What is listed: features; views, or columns if the model was fitted on a table; or topics, followed by
            "hidden topics", "dimensions" (all other units), "inputs" (what does not come through units) and "curves",
            if there are any.
        unit : str, optional
            Only what comes through a topic, such as "topic_0", or through "dimensions", "inputs" or "curves".

        Returns
        -------
        DataFrame
            Column ``total``, which adds up to the score less its base or to what the unit adds. Before it stand
            ``view``, ``feature`` and ``present``; ``view`` and ``present``; or ``unit`` and ``label``. Without a unit,
            features and views also have ``through_units``, ``inputs`` and, if there are any, ``curves``: the parts of
            the total. Where the score is a logarithm (`scale_of`), a last column ``factor`` is exp(total), by which
            y + c is multiplied.
        """
        table = self._parts(output, by, unit)
        return table if self.scale_of(output) == "linear" else table.assign(factor=np.exp(table["total"]))

    def _parts(self, output: str | None, by: str, unit: str | None) -> pd.DataFrame:
        """Return what adds up to a score, on the scale of the score."""
        number = self.number_of(output)
        if by not in ("feature", "view", "topic"):
            raise ValueError(f"by must be 'feature', 'view' or 'topic'; got {by!r}; correct it.")
        units = [*self._topics(), *self._others()]
        if unit is not None and unit not in units:
            raise ValueError(f"unit must be one of {', '.join(units)}; got {unit!r}; correct the name.")
        if by == "topic":
            totals = {name: float(self._through(name, number).sum()) for name in ([unit] if unit else units)}
            return self._topic_table(totals)
        if unit is None:
            through, directly = self.through[:, number], self.directly[:, number]
            parts = {name: self._through(name, number) for name in units if name in (INPUTS, CURVES)}
            table = self.features.assign(through_units=through, **parts, total=through + directly)
        else:
            table = self.features.assign(total=self._through(unit, number))
        if by == "view":
            present = table.groupby("view", sort=False)["present"].any()
            table = table.drop(columns=["feature", "present"]).groupby("view", sort=False).sum()
            table.insert(0, "present", present)
            table = table.reset_index()
        order = np.lexsort([-table["total"].abs(), ~table["present"]])
        return table.iloc[order].reset_index(drop=True)

    def _topics(self) -> dict[str, ShownTopic]:
        """Return the topics that are shown, by their names."""
        shown = self.shown or TopicEdits().shown(len(self.labels))
        return {f"topic_{topic.number}": topic for topic in shown}

    def _others(self) -> list[str]:
        """Return the names of what is no topic that is shown."""
        n_topics, topics = self._n_topic_units, self._topics().values()
        parts = [part for topic in topics for part in topic.parts]
        found = [HIDDEN] if len({part.unit for part in parts if part.only is None}) < n_topics else []
        found += [DIMENSIONS] if len(self.rates) > n_topics else []
        return [*found, INPUTS, *([] if self.curves is None else [CURVES])]

    @property
    def _n_topic_units(self) -> int:
        return len(self.labels) if self.n_topic_units is None else self.n_topic_units

    def _through(self, unit: str, number: int) -> np.ndarray:
        """Return what each feature adds to a score through a topic or other units, or past all of them."""
        topics, n_topics = self._topics(), self._n_topic_units
        if unit in topics:
            return self._through_topic(topics[unit], number)
        if unit == HIDDEN:
            all_topics = self.moves[:, :n_topics] @ self.rates[:n_topics, number]
            return np.asarray(all_topics - np.sum([self._through(name, number) for name in topics], axis=0))
        if unit == DIMENSIONS:
            return np.asarray(self.moves[:, n_topics:] @ self.rates[n_topics:, number])
        curves = np.zeros(len(self.directly)) if self.curves is None else self.curves[:, number]
        return np.asarray(curves if unit == CURVES else self.directly[:, number] - curves)

    def _through_topic(self, topic: ShownTopic, number: int) -> np.ndarray:
        """Return what each feature adds to a score through the parts of a topic."""
        names, total = self.features["feature"].to_numpy(dtype=object), np.zeros(len(self.features))
        for part in topic.parts:
            total += self.moves[:, part.unit] * self.rates[part.unit, number] * part.has(names)
        return total

    def _topic_table(self, totals: dict[str, float]) -> pd.DataFrame:
        """Return what units add: topics, the largest first, before the others."""
        labels = dict(zip(self._topics(), self.labels, strict=True))
        order = sorted(totals, key=lambda name: (name not in labels, -abs(totals[name]) if name in labels else 0.0))
        return pd.DataFrame(
            {
                "unit": order,
                "label": [labels.get(name, name) for name in order],
                "total": [totals[name] for name in order],
            }
        )

    def to_dict(self, output: str | None = None, n: int = 10) -> dict[str, Any]:
        """Return the explanation of a score as JSON can hold it.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.
        n : int, default=10
            Number of topics, and of features that the row has and of those that it has not; what is left of each is
            one number ``rest``.

        Returns
        -------
        dict
            Entries ``output``, ``scale`` (see `scale_of`), ``score``, ``base``, ``stops_at``; ``topics``, ``views`` and
            ``features``, lists of dicts with the columns of `table`; ``topics_rest`` and ``features_rest``, what is not
            listed. Topics also have their number ``topic`` and their ``features``. ``dimensions``, ``inputs`` and
            ``curves`` are what does not come through topics.
        """
        number = self.number_of(output)
        units, features = self.table(output, "topic"), self.table(output)
        others = dict(units[units["unit"].isin([HIDDEN, DIMENSIONS, INPUTS, CURVES])][["unit", "total"]].to_numpy())
        topics = units.iloc[: len(self.labels)]
        listed = [
            {
                "topic": int(entry["unit"].removeprefix("topic_")),
                **entry,
                "features": _first(self.table(output, unit=entry["unit"]), n).to_dict("records"),
            }
            for entry in topics.head(n).to_dict("records")
        ]
        first = _first(features, n)
        return {
            "output": self.outputs[number],
            "scale": self.scale_of(output),
            "score": float(self.scores[number]),
            "base": float(self.base[number]),
            "stops_at": self.stops_at(output),
            "topics": listed,
            "topics_rest": float(topics["total"][n:].sum() + others.get(HIDDEN, 0.0)),
            "dimensions": float(others.get(DIMENSIONS, 0.0)),
            "inputs": float(others[INPUTS]),
            "curves": float(others.get(CURVES, 0.0)),
            "views": self.table(output, "view").to_dict("records"),
            "features": first.to_dict("records"),
            "features_rest": float(features["total"].sum() - first["total"].sum()),
        }


class Explanations(list[Explanation]):
    """The explanations of some rows, in their order: a list that prints and draws the first of them.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> why = HarmoniumRegressor(2, random_state=0).fit(X, X[:, 0]).explain(X[:2])
    >>> len(why), why.table()["row"].unique().tolist()
    (2, [0, 1])
    """

    def __repr__(self) -> str:
        more = f"\n({len(self)} rows; [0] to [{len(self) - 1}] are the explanations of each)" if len(self) > 1 else ""
        return f"{self[0]!r}{more}" if self else "[]"

    def table(self, output: str | None = None, by: Literal["feature", "view", "topic"] = "feature") -> pd.DataFrame:
        """Return what adds up to the scores of all rows.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted of each row.
        by : {"feature", "view", "topic"}, default="feature"
            What is listed, as in `Explanation.table`.

        Returns
        -------
        DataFrame
            The tables of the rows, one below the other, behind a column ``row``.
        """
        tables = [why.table(output, by) for why in self]
        return pd.concat(dict(enumerate(tables)), names=["row", None]).reset_index("row").reset_index(drop=True)

    def plot(self, output: str | None = None, n: int = _LINES, ax: Any = None) -> Any:
        """Draw the explanation of the first row.

        Parameters
        ----------
        output : str, optional
            Name of the score. Default: what is predicted.
        n : int, default=10
            Number of features.
        ax : Axes, optional
            Axes to draw in. By default it is a new figure.

        Returns
        -------
        Axes
            What was drawn.
        """
        return self[0].plot(output, n, ax)


def _first(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the first features that a row has, and the first of those that it has not."""
    return table.groupby("present", sort=False).head(n)
