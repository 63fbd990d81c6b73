"""View of the targets that a head adds to the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.core.targets import Kind, Targets, TargetSpec
from harmonium.families import Family


@dataclass(frozen=True, eq=False)
class AddedView:
    """A view that holds the targets.

    Attributes
    ----------
    family : Family
        Family of the view.
    kind : {"class", "number", "label"}
        Kind of the targets.
    """

    family: Family
    kind: Kind

    def data(self, targets: Targets) -> np.ndarray:
        """Return the data of the view, a row for each training row, with NaN where the target is unknown."""
        values = targets.values.astype(np.float64)
        return np.where(values < 0, np.nan, values) if self.kind == "class" else values

    def feature_names(self, view: str, spec: TargetSpec) -> list[str]:
        """Return the names of the targets, with the class if it is one ("species=cat")."""
        columns = list(spec.names or [f"{view}_{number}" for number in range(spec.n_columns)])
        return [f"{columns[0]}={name}" for name in spec.classes[0]] if self.kind == "class" else columns


def class_view(views: dict[str, AddedView]) -> str | None:
    """Return the name of the view that holds classes; None if none does."""
    return next((name for name, view in views.items() if view.kind == "class"), None)
