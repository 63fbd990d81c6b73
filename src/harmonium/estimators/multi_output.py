"""`HarmoniumMultiOutput`: numbers, classes and tags side by side, each with empty cells of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from harmonium.core.targets import Kind
from harmonium.core.validation import Anything, IsInstance, RandomState, check_fitted, check_settings, few_of, shown
from harmonium.estimators.classifier import HarmoniumClassifier
from harmonium.estimators.input.labels import in_order_of
from harmonium.estimators.input.read_input import as_data
from harmonium.estimators.input.several_targets import TargetColumn, read_targets
from harmonium.estimators.input.target_columns import from_obs, set_apart
from harmonium.estimators.regressor import HarmoniumRegressor
from harmonium.exceptions import ModelFileError
from harmonium.persist import describe, rebuild
from harmonium.queries.explanation import Explanations
from harmonium.storage import check_fields, decode_settings, encode_settings, heading, rebuilds, write_model
from harmonium.views import Shards
from harmonium.views.index import row_names

_FORMAT = "harmonium targets"
_FIELDS = dict.fromkeys(("format", "library_version", "estimator"), str) | {
    "schema": int,
    "parameters": dict,
    "targets": list,
}


class HarmoniumMultiOutput(BaseEstimator):
    """Several targets of different kinds, some of whose cells may be unknown.

    Each target has a model of its own, a `HarmoniumRegressor` for numbers or a `HarmoniumClassifier` for classes and
    tags, with all that belongs to it: scale, intervals, probabilities, explanations and topics (``estimators_``). So no
    target is predicted worse than it would be alone, and a row teaches each model whose target it has.

    Parameters
    ----------
    classifier : HarmoniumClassifier, optional
        Settings of the models of classes and tags. Default: those of `HarmoniumClassifier`.
    regressor : HarmoniumRegressor, optional
        Settings of the models of numbers. Default: those of `HarmoniumRegressor`.
    kinds : mapping of str to {"number", "class", "label"}, optional
        Kinds of some targets, "label" for tags. By default numbers of more than two values are numbers, also in texts
        such as "13%", lists and texts with separators are tags, and everything else, also categoricals, is a class.
    random_state : int, RandomState instance or None, default=None
        Source of random numbers of models that have none of their own.

    Attributes
    ----------
    estimators_ : dict of str to HarmoniumClassifier or HarmoniumRegressor
        The model of each target.
    kinds_ : dict of str to str
        Kind of each target.
    target_names_ : ndarray of str
        Names of the targets.

    See Also
    --------
    HarmoniumClassifier : One or several columns of classes, or labels, in one latent space.
    HarmoniumRegressor : One or several columns of numbers in one latent space.
    harmonium.metrics.ignoring_unknown : Measures of scikit-learn that leave unknown cells out.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from harmonium import HarmoniumMultiOutput
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> frame = pd.DataFrame(X, columns=["a", "b", "c"])
    >>> frame["rating"] = np.where(np.arange(80) % 4, X[:, 0] + 3, np.nan)  # a quarter is unknown
    >>> frame["place"] = np.where(X[:, 1] > 0, "Rome", "Oslo")
    >>> model = HarmoniumMultiOutput(random_state=0).fit(frame, ["rating", "place"])
    >>> model.predict(frame[:2]).columns.tolist(), model.kinds_
    (['rating', 'place'], {'rating': 'number', 'place': 'class'})
    >>> bool((model.score_targets(frame, ["rating", "place"]) > 0.8).all())
    True
    """

    settings = {
        "classifier": IsInstance(HarmoniumClassifier, "HarmoniumClassifier()"),
        "regressor": IsInstance(HarmoniumRegressor, "HarmoniumRegressor()"),
        "kinds": Anything(),
        "random_state": RandomState(),
    }
    estimators_: dict[str, Any]
    kinds_: dict[str, Kind]

    def __init__(
        self,
        classifier: HarmoniumClassifier | None = None,
        regressor: HarmoniumRegressor | None = None,
        kinds: Mapping[str, Kind] | None = None,
        random_state: Any = None,
    ) -> None:
        self.classifier = classifier
        self.regressor = regressor
        self.kinds = kinds
        self.random_state = random_state

    # ---- fitting -------------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a model of each target from all rows.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items, as for `HarmoniumClassifier.fit`.
        y : data frame or array-like of shape (n_rows, n_targets), or names of columns of X
            Targets; NaN and None are unknown. Where both X and y have an index of pandas, rows go by its names.
        sample_weight : array-like of shape (n_rows,) or (n_rows, n_targets), optional
            Weights of the rows, or of each cell of y; a cell of weight 0 counts as unknown.

        Returns
        -------
        HarmoniumMultiOutput
            The fitted estimator.
        """
        check_settings(self, self.settings)
        X, targets = self._read(X, y, sample_weight, self.kinds, is_fit=True)
        estimators = {}
        for target in targets:
            try:
                estimators[target.name] = self._prototype(target.kind).fit(X, target.values, target.weight)
            except ValueError as error:
                raise ValueError(f"Target {target.name!r}: {error}") from error
        self.estimators_, self.kinds_ = estimators, {target.name: target.kind for target in targets}
        return self

    def _prototype(self, kind: Kind) -> Any:
        """Return a new model for targets of a kind."""
        given = self.regressor if kind == "number" else self.classifier
        default = HarmoniumRegressor() if kind == "number" else HarmoniumClassifier()
        model = default if given is None else clone(given)
        return model.set_params(random_state=self.random_state) if model.random_state is None else model

    @staticmethod
    def _read(
        X: Any, y: Any, sample_weight: Any, kinds: Mapping[str, Kind] | None, is_fit: bool = False
    ) -> tuple[Any, list[TargetColumn]]:
        """Return X without the columns that y names, and the targets."""
        data = as_data(X)
        if isinstance(data, Shards):
            raise TypeError(
                "HarmoniumMultiOutput takes data in memory; got shards; fit HarmoniumClassifier or HarmoniumRegressor "
                "to each target."
            )
        data, y, _ = set_apart(data, from_obs(X, y), is_fit)
        y, sample_weight = in_order_of(data, "y", y), in_order_of(data, "sample_weight", sample_weight)
        return nw.to_native(data, pass_through=True), read_targets(y, sample_weight, kinds, is_fit)

    # ---- using ---------------------------------------------------------------------------------------------------
    @property
    def target_names_(self) -> np.ndarray:
        """Names of the targets."""
        check_fitted(self)
        return np.array(list(self.estimators_))

    def _inputs(self, X: Any) -> Any:
        """Return X without columns that are targets."""
        check_fitted(self)
        data = as_data(X)
        if not isinstance(data, nw.DataFrame):
            return X
        return nw.to_native(data.drop([name for name in data.columns if str(name) in self.estimators_]))

    def predict(self, X: Any) -> pd.DataFrame:
        """Return what is expected of each target.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on; columns of targets are left out.

        Returns
        -------
        DataFrame of shape (n_rows, n_targets)
            Numbers, classes, and lists of tags, under the names of the targets. Intervals of numbers are those of
            ``estimators_[name].predict(X, interval=0.9)``.
        """
        rows = self._inputs(X)
        found = {name: _predicted(model, self.kinds_[name], rows) for name, model in self.estimators_.items()}
        return pd.DataFrame(found, index=row_names(rows))

    def predict_proba(self, X: Any) -> dict[str, pd.DataFrame]:
        """Return the probabilities of classes and tags.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on; columns of targets are left out.

        Returns
        -------
        dict of str to DataFrame
            A column for each class or tag, for each target that is no number.
        """
        rows = self._inputs(X)
        return {
            name: pd.DataFrame(model.predict_proba(rows), columns=model.classes_, index=row_names(rows))
            for name, model in self.estimators_.items()
            if self.kinds_[name] != "number"
        }

    def explain(self, X: Any, target: str) -> Explanations:
        """Return which topics and features move the prediction of a target, by how much.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            A few rows; columns of targets are left out.
        target : str
            Name of the target.

        Returns
        -------
        Explanations
            A list with one for each row; the first is printed, ``table()`` has all.
        """
        rows = self._inputs(X)
        if target not in self.estimators_:
            known = few_of(self.estimators_)
            raise ValueError(f"target must be one of {known}; got {shown(target)}; correct the name.")
        found: Explanations = self.estimators_[target].explain(rows)
        return found

    def score_targets(self, X: Any, y: Any, sample_weight: Any = None) -> pd.Series:
        """Return how well each target is predicted where it is known.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.
        y : data frame or array-like of shape (n_rows, n_targets), or names of columns of X
            What is right; unknown cells do not count.
        sample_weight : array-like of shape (n_rows,) or (n_rows, n_targets), optional
            Weights of the rows, or of each cell.

        Returns
        -------
        Series
            R² of numbers, accuracy of classes, share of rows that have all tags right; NaN for targets of which no cell
            is known.
        """
        check_fitted(self)
        X, targets = self._read(X, y, sample_weight, self.kinds_)
        names = [target.name for target in targets]
        if set(names) != set(self.estimators_):
            raise ValueError(
                f"y must have the targets {few_of(self.estimators_)}; got {few_of(names)}; pass the same columns."
            )
        rows = self._inputs(X)
        return pd.Series({target.name: _score(self.estimators_[target.name], rows, target) for target in targets})

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return how well targets are predicted: the mean of `score_targets`.

        Targets of which no cell is known do not count.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.
        y : data frame or array-like of shape (n_rows, n_targets), or names of columns of X
            What is right; unknown cells do not count.
        sample_weight : array-like of shape (n_rows,) or (n_rows, n_targets), optional
            Weights of the rows, or of each cell.

        Returns
        -------
        float
            At most 1.
        """
        scores = self.score_targets(X, y, sample_weight)
        if scores.isna().all():
            raise ValueError("y must be known for some cells; all are missing; pass what is right.")
        return float(scores.mean())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the models of all targets to a file or a folder of safetensors and JSON.

        Parameters
        ----------
        path : str or path
            One file if it ends in ``.safetensors``, a folder if it has no ending; `harmonium.load` reads both.
        """
        check_fitted(self)
        given = {"classifier": self.classifier, "regressor": self.regressor}
        own = encode_settings(clone(self).set_params(classifier=None, regressor=None))
        parts = {name: describe(model) for name, model in self.estimators_.items()}
        description = {
            **heading(_FORMAT, type(self).__name__),
            "parameters": own | {key: None if one is None else encode_settings(one) for key, one in given.items()},
            "targets": [
                {"name": name, "kind": self.kinds_[name], "model": model} for name, (model, _) in parts.items()
            ],
        }
        tensors = {
            f"{number}/{key}": tensor
            for number, (_, own_tensors) in enumerate(parts.values())
            for key, tensor in own_tensors.items()
        }
        write_model(path, description, tensors)


@rebuilds(_FORMAT)
def _rebuilt(description: dict[str, Any], tensors: dict[str, np.ndarray]) -> HarmoniumMultiOutput:
    """Return the fitted estimator; every contradiction is a `ModelFileError`."""
    check_fields(description, _FIELDS, "The description of models of several targets")
    parameters = dict(description["parameters"])
    given = {
        name: decode_settings(kind, parameters.pop(name))
        for name, kind in (("classifier", HarmoniumClassifier), ("regressor", HarmoniumRegressor))
        if parameters.get(name) is not None
    }
    found = decode_settings(HarmoniumMultiOutput, parameters).set_params(**given)
    found.estimators_, found.kinds_ = {}, {}
    for number, entry in enumerate(description["targets"]):
        check_fields(entry, {"name": str, "kind": str, "model": dict}, "The description of a target")
        prefix = f"{number}/"
        own = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        model = rebuild(entry["model"], own)
        if entry["kind"] not in getattr(model, "kinds", ()) or entry["name"] in found.estimators_:
            raise ModelFileError(
                f"A target in a model file must have a name and a model of its own; {entry['name']!r} has not; save "
                "the model again."
            )
        found.estimators_[entry["name"]], found.kinds_[entry["name"]] = model, entry["kind"]
    return found


def _predicted(model: Any, kind: Kind, rows: Any) -> Any:
    """Return numbers, classes, or lists of tags."""
    found = model.predict(rows)
    return [model.classes_[row > 0].tolist() for row in found] if kind == "label" else found


def _score(model: Any, rows: Any, target: TargetColumn) -> float:
    """Return the score of a model where its target is known; NaN if no cell is."""
    known = ~pd.isna(pd.Series(list(target.values), dtype=object)).to_numpy()
    if target.weight is not None:
        known &= target.weight > 0
    return float(model.score(rows, target.values, target.weight)) if known.any() else np.nan
