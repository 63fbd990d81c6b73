"""Linear part of the scores: a skip connection from the inputs, beside the hidden units.

    scores = E[h | x] V + b + x̃ U

x̃ are the scaled views (`harmonium.linear.scaling`). U solves the convex problem of a linear model of x̃ alone, and its
scores are stacked with those of the units; penalty and stacking weight are chosen on held-out rows, by
`harmonium.linear.search` and `harmonium.linear.stacking`. Curves of single columns, or trees of several, may come on
top (`harmonium.linear.curves`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from harmonium.core.batch import Batch
from harmonium.families import Family
from harmonium.families.protocol.scale import scale_factors
from harmonium.linear.common_factors import CommonFactors
from harmonium.linear.curves import CURVES, Curves
from harmonium.linear.nystroem import Nystroem
from harmonium.linear.scaling import ViewScaler

# What a file keeps of common factors, for each view.
_FACTORS = ("loadings", "mean", "noise")
# Prefix of the names in files, which is older than the name of the class.
_PREFIX = "direct/"


@dataclass(frozen=True, eq=False)
class LinearPart:
    """Weights of the inputs in the scores.

    Attributes
    ----------
    scalers : dict of str to ViewScaler
        Scaling of each view.
    weights : dict of str to ndarray of shape (features, outputs)
        U, by view.
    typical : dict of str to ndarray of shape (outputs,)
        What each view adds to the scores of a row that lacks it, if the others do not say more.
    curves : Curves, optional
        Functions of single columns that add to the scores besides.
    common : CommonFactors, optional
        Factors by which other views say what a view adds that a row lacks.
    """

    scalers: dict[str, ViewScaler]
    weights: dict[str, np.ndarray]
    typical: dict[str, np.ndarray]
    curves: Curves | None = None
    common: CommonFactors | None = None

    @classmethod
    def of(
        cls, scalers: dict[str, ViewScaler], weights: dict[str, np.ndarray], lacking: Mapping[str, np.ndarray]
    ) -> Self:
        """Return the linear part with weights of the features of each view.

        ``lacking`` are the features of a row that lacks each view, before they are multiplied by weights.
        """
        return cls(scalers, weights, {name: lacking[name] @ part for name, part in weights.items()})

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of the views that have weights."""
        return tuple(self.weights)

    @property
    def n_features(self) -> dict[str, int]:
        """Number of weights of each view, for an output."""
        return {name: len(weights) for name, weights in self.weights.items()}

    def scaled(self, factor: float) -> Self:
        """Return the linear part whose scores are these times a factor."""
        weights, typical = (
            {name: factor * value for name, value in part.items()} for part in (self.weights, self.typical)
        )
        curves, common = self.curves and self.curves.scaled(factor), self.common and self.common.scaled(factor)
        return replace(self, weights=weights, typical=typical, curves=curves, common=common)

    def rescaled(self, before: Mapping[str, Family], after: Mapping[str, Family]) -> Self:
        """Return the linear part with the same scores, for families whose features have another scale."""
        scalers = {
            name: scaler.rescaled(scale_factors(before[name], after[name])) if name in after else scaler
            for name, scaler in self.scalers.items()
        }
        return replace(self, scalers=scalers)

    def scores(self, families: Mapping[str, Family], batch: Batch) -> np.ndarray:
        """Return x̃ U and the curves for each row of a batch, in float64."""
        return np.sum(list(self.parts(families, batch).values()), axis=0)

    def parts(self, families: Mapping[str, Family], batch: Batch) -> dict[str, np.ndarray]:
        """Return what each view adds to the scores of each row, and "curves", if there are any."""
        found = self._linear(families, batch)
        return found if self.curves is None else found | {CURVES: self.curves.scores(families, batch, found)}

    def _linear(self, families: Mapping[str, Family], batch: Batch) -> dict[str, np.ndarray]:
        """Return what each view adds to the scores of each row, but for the curves."""
        found: dict[str, np.ndarray] = {}
        lacking: dict[str, np.ndarray] = {}
        for name, typical in self.typical.items():
            view = batch.views.get(name) or batch.inputs.get(name)
            if view is None:
                found[name], lacking[name] = np.tile(typical, (batch.n_rows, 1)), np.ones(batch.n_rows, dtype=bool)
                continue
            found[name] = self.scalers[name].transform(families.get(name), view) @ self.weights[name]
            lacking[name] = ~view.observed_rows
            found[name][lacking[name]] = typical
        if self.common is not None:
            self.common.complete(found, lacking)
        return found

    @property
    def average(self) -> dict[str, np.ndarray]:
        """What the average row of each view adds to the scores.

        Of Nystroem features it is what the mean row adds; else what a row adds that lacks the view.
        """
        found = dict(self.typical)
        for name, scaler in self.scalers.items():
            if scaler.nystroem is not None:
                mean_row = np.zeros((1, len(scaler.scale)))
                found[name] = (scaler.nystroem.transform(mean_row) @ self.weights[name])[0]
        return found

    def beyond_average(self, families: Mapping[str, Family], name: str, batch: Batch) -> np.ndarray:
        """Return what a view of the one row of a batch adds to the scores beyond the `average` one."""
        return self._linear(families, batch)[name][0] - self.average[name]

    def explained(self, families: Mapping[str, Family], name: str, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        """Return what each statistic of one row adds to the scores, and what all of them leave of the whole.

        The whole is what the row adds beyond the `average` one. Of a row that lacks the view, for which the other views
        may speak, it is left as a whole.

        Returns
        -------
        contributions : ndarray of shape (statistics, outputs)
            What each statistic adds; see `ViewScaler.contributions`.
        rest : ndarray of shape (outputs,)
            What is left.
        """
        whole, view = self.beyond_average(families, name, batch), batch.views[name]
        if not view.observed_rows[0]:
            return np.zeros((families[name].n_features_, len(whole))), whole
        contributions = self.scalers[name].contributions(families[name], view, self.weights[name])
        return contributions, whole - contributions.sum(axis=0)

    def explained_curves(
        self, families: Mapping[str, Family], batch: Batch
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return what curves add to the scores of one row by each statistic of each view, and by scores of views."""
        assert self.curves is not None
        return self.curves.contributions(families, batch, self._linear(families, batch))

    def check(self, families: Mapping[str, Family]) -> None:
        """Refuse what does not go with the views, such as curves of a file that was changed."""
        if self.curves is not None:
            self.curves.check(families, self.view_names, len(next(iter(self.typical.values()))))

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep."""
        found: dict[str, np.ndarray] = {}
        for name, scaler in self.scalers.items():
            kept = {
                "centre": scaler.centre,
                "scale": scaler.scale,
                "kind": np.array([scaler.sublinear_tf, scaler.unit_rows], dtype=np.float64),
                "weights": self.weights[name],
                "typical": self.typical[name],
            }
            if self.common is not None and name in self.common.loadings:
                common = self.common
                kept |= {
                    "loadings": common.loadings[name],
                    "mean": common.mean[name],
                    "noise": np.array([common.noise]),
                }
            if scaler.nystroem is not None:
                kernel = scaler.nystroem
                kept |= {"landmarks": kernel.landmarks, "basis": kernel.basis, "precision": np.array([kernel.gamma])}
            found |= {f"{_PREFIX}{name}/{what}": np.asarray(value, dtype=np.float64) for what, value in kept.items()}
        return found | (self.curves.constants() if self.curves else {})

    @classmethod
    def restored(cls, constants: Mapping[str, np.ndarray], n_outputs: int) -> Self | None:
        """Return the linear part that `constants` described; None if there was none."""
        kept: dict[str, dict[str, np.ndarray]] = {}
        for name, value in constants.items():
            if name.startswith(_PREFIX):
                view, what = name.removeprefix(_PREFIX).rsplit("/", 1)
                kept.setdefault(view, {})[what] = value
        if not kept:
            return None
        part = cls({}, {}, {}, Curves.restored(constants, n_outputs), _restored_factors(kept, n_outputs))
        for view, arrays in kept.items():
            part.scalers[view] = _restored_scaler(view, arrays, n_outputs)
            part.weights[view], part.typical[view] = arrays["weights"], arrays["typical"]
        return part


def _restored_factors(kept: Mapping[str, dict[str, np.ndarray]], n_outputs: int) -> CommonFactors | None:
    """Return the factors that views have in common, which are taken out of what was kept, after a check; or None."""
    found = {
        view: [arrays.pop(what) for what in _FACTORS] for view, arrays in kept.items() if set(_FACTORS) <= set(arrays)
    }
    if not found:
        return None
    loadings, mean, noise = ({view: parts[place] for view, parts in found.items()} for place in range(3))
    n_factors = next(iter(loadings.values())).shape[-1:]
    right = all(part.shape == (n_outputs, *n_factors) for part in loadings.values())
    right &= all(part.shape == (n_outputs,) for part in mean.values())
    right &= all(part.shape == (1,) and part[0] > 0 for part in noise.values())
    if not right or not all(np.isfinite(part).all() for parts in found.values() for part in parts):
        raise ValueError(
            f"common factors need finite loadings and means of {n_outputs} scores, and noise above 0, of each view"
        )
    return CommonFactors(loadings, mean, float(next(iter(noise.values()))[0]))


def _restored_scaler(view: str, found: dict[str, np.ndarray], n_outputs: int) -> ViewScaler:
    """Return the scaler of a view, after a check of all that a file says of its linear part."""
    names, kernel = {"centre", "scale", "kind", "weights", "typical"}, {"landmarks", "basis", "precision"}
    if set(found) not in (names, names | kernel) or found["kind"].shape != (2,):
        raise ValueError(f"the linear part of view {view!r} has {sorted(found)}")
    n_inputs, n_features = len(found["scale"]), len(found["weights"])
    shapes = {"weights": (n_features, n_outputs), "centre": (n_inputs,), "scale": (n_inputs,), "typical": (n_outputs,)}
    if kernel <= set(found):
        n_landmarks = len(found["landmarks"])
        shapes |= {"landmarks": (n_landmarks, n_inputs), "basis": (n_landmarks, n_features), "precision": (1,)}
    elif n_features != n_inputs:
        shapes["scale"] = (n_features,)
    if any(found[what].shape != shape for what, shape in shapes.items()):
        raise ValueError(f"the linear part of view {view!r} must have {n_outputs} weights for each feature")
    if not all(np.isfinite(value).all() for value in found.values()):
        raise ValueError(f"the linear part of view {view!r} must have finite numbers")
    sublinear_tf, unit_rows = (bool(flag) for flag in found["kind"])
    nystroem = None
    if kernel <= set(found):
        nystroem = Nystroem(found["landmarks"], float(found["precision"][0]), found["basis"])
    return ViewScaler(found["centre"], found["scale"], sublinear_tf, unit_rows, nystroem)
