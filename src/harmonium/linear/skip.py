"""The direct path: what a head sees of the inputs themselves, beside the topics.

    scores = E[h | x] V + b + x̃ U

x̃ are the views on a common footing (`harmonium.linear.scaling`). U solves the convex problem of a linear model on x̃
alone, and a share of its scores is mixed with those of the topics; penalty and share are chosen on held-out rows, by
`harmonium.linear.stacking`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.sparse

from harmonium.batch import Batch, ViewBatch
from harmonium.families import Family
from harmonium.linear.nystroem import Resemblance
from harmonium.linear.scaling import Features, Footing

_PREFIX = "direct/"


@dataclass(frozen=True, eq=False)
class DirectPath:
    """Weights of the inputs in the scores.

    Attributes
    ----------
    footings : dict of str to Footing
        How the statistics of each view become features.
    weights : dict of str to ndarray of shape (features, outputs)
        U, by view.
    typical : dict of str to ndarray of shape (outputs,)
        What each view adds to the scores of a row that lacks it.
    """

    footings: dict[str, Footing]
    weights: dict[str, np.ndarray]
    typical: dict[str, np.ndarray]

    @classmethod
    def of(cls, footings: dict[str, Footing], weights: np.ndarray, lacking: Mapping[str, np.ndarray]) -> Self:
        """Return the path with weights of all features, those of the views one after the other.

        ``lacking`` are the features of a row that lacks each view, before they are multiplied by weights.
        """
        ends = np.cumsum([footing.n_features for footing in footings.values()])
        by_view = dict(zip(footings, np.split(weights, ends[:-1]), strict=True))
        return cls(footings, by_view, {name: lacking[name] @ part for name, part in by_view.items()})

    def scaled(self, factor: float) -> Self:
        """Return the path whose scores are these times a factor."""
        weights, typical = (
            {name: factor * value for name, value in part.items()} for part in (self.weights, self.typical)
        )
        return replace(self, weights=weights, typical=typical)

    def scores(self, families: Mapping[str, Family], batch: Batch) -> np.ndarray:
        """Return x̃ U for each row of a batch, in float64."""
        return np.sum(list(self.parts(families, batch).values()), axis=0)

    def parts(self, families: Mapping[str, Family], batch: Batch) -> dict[str, np.ndarray]:
        """Return what each view adds to the scores of each row."""
        found = {}
        for name, typical in self.typical.items():
            view = batch.views.get(name)
            if view is None:
                found[name] = np.tile(typical, (batch.n_rows, 1))
                continue
            found[name] = self.footings[name].features(families[name], view) @ self.weights[name]
            if view.missing is not None:
                found[name][view.missing.all(axis=1)] = typical
        return found

    @property
    def average(self) -> dict[str, np.ndarray]:
        """What the average row of each view adds to the scores.

        Where rows resemble known ones, it is the mean row that does; else what a row adds that lacks the view.
        """
        found = dict(self.typical)
        for name, footing in self.footings.items():
            if footing.resemblance is not None:
                mean_row = np.zeros((1, len(footing.scale)))
                found[name] = (footing.resemblance.features(mean_row) @ self.weights[name])[0]
        return found

    def explained(self, families: Mapping[str, Family], name: str, view: ViewBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return what each statistic of one row adds to the scores, and what all of them leave of the whole.

        The whole is what the row adds beyond the `average` one. Of a row that lacks the view, it is left as a whole.

        Returns
        -------
        shares : ndarray of shape (statistics, outputs)
            What each statistic adds; see `Footing.shares`.
        rest : ndarray of shape (outputs,)
            What is left.
        """
        whole = self.parts(families, Batch({name: view}, 1))[name][0] - self.average[name]
        if not view.observed_rows[0]:
            return np.zeros((families[name].n_features_, len(whole))), whole
        shares = self.footings[name].shares(families[name], view, self.weights[name])
        return shares, whole - shares.sum(axis=0)

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep."""
        found: dict[str, np.ndarray] = {}
        for name, footing in self.footings.items():
            kept = {
                "centre": footing.centre,
                "scale": footing.scale,
                "kind": np.array([footing.counted, footing.unit_rows], dtype=np.float64),
                "weights": self.weights[name],
                "typical": self.typical[name],
            }
            if footing.resemblance is not None:
                near = footing.resemblance
                kept |= {"landmarks": near.landmarks, "basis": near.basis, "precision": np.array([near.precision])}
            found |= {f"{_PREFIX}{name}/{what}": np.asarray(value, dtype=np.float64) for what, value in kept.items()}
        return found

    @classmethod
    def restored(cls, constants: Mapping[str, np.ndarray], n_outputs: int) -> Self | None:
        """Return the path that `constants` described; None if there was none."""
        kept: dict[str, dict[str, np.ndarray]] = {}
        for name, value in constants.items():
            if name.startswith(_PREFIX):
                view, what = name.removeprefix(_PREFIX).rsplit("/", 1)
                kept.setdefault(view, {})[what] = value
        if not kept:
            return None
        path = cls({}, {}, {})
        for view, found in kept.items():
            path.footings[view] = _restored_footing(view, found, n_outputs)
            path.weights[view], path.typical[view] = found["weights"], found["typical"]
        return path


def _restored_footing(view: str, found: dict[str, np.ndarray], n_outputs: int) -> Footing:
    """Return the footing of a view, after a check of all that a file says of its path."""
    names, nearness = {"centre", "scale", "kind", "weights", "typical"}, {"landmarks", "basis", "precision"}
    if set(found) not in (names, names | nearness) or found["kind"].shape != (2,):
        raise ValueError(f"the direct path of view {view!r} has {sorted(found)}")
    n_inputs, n_features = len(found["scale"]), len(found["weights"])
    shapes = {"weights": (n_features, n_outputs), "centre": (n_inputs,), "scale": (n_inputs,), "typical": (n_outputs,)}
    if nearness <= set(found):
        n_landmarks = len(found["landmarks"])
        shapes |= {"landmarks": (n_landmarks, n_inputs), "basis": (n_landmarks, n_features), "precision": (1,)}
    elif n_features != n_inputs:
        shapes["scale"] = (n_features,)
    if any(found[what].shape != shape for what, shape in shapes.items()):
        raise ValueError(f"the direct path of view {view!r} must have {n_outputs} weights for each feature")
    if not all(np.isfinite(value).all() for value in found.values()):
        raise ValueError(f"the direct path of view {view!r} must have finite numbers")
    counted, unit_rows = (bool(flag) for flag in found["kind"])
    near = None
    if nearness <= set(found):
        near = Resemblance(found["landmarks"], float(found["precision"][0]), found["basis"])
    return Footing(found["centre"], found["scale"], counted, unit_rows, near)


def side_by_side(parts: list[Features]) -> Features:
    """Return the features of several views as one matrix, sparse if one of them is."""
    if len(parts) == 1:
        return parts[0]
    if any(scipy.sparse.issparse(part) for part in parts):
        return scipy.sparse.csr_array(scipy.sparse.hstack(parts, format="csr"))
    return np.hstack(parts)
