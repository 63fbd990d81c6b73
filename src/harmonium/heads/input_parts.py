"""Additive parts of the scores that come from the inputs directly, beside the hidden units.

A head carries those that a fit has chosen; its scores are the sum of what the units say and of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from harmonium.core.batch import Batch
from harmonium.families import Family
from harmonium.heads.outputs.constants import Constants
from harmonium.linear.curves import Curves
from harmonium.linear.skip import LinearPart


class InputPart(Protocol):
    """A function of the inputs that is added to the scores: a sum over views."""

    def scores(self, families: Mapping[str, Family], batch: Batch) -> np.ndarray:
        """Return what it adds to the scores of each row, in float64."""

    def parts(self, families: Mapping[str, Family], batch: Batch) -> dict[str, np.ndarray]:
        """Return what each view adds to the scores of each row."""

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of the views that it is a function of."""

    @property
    def n_features(self) -> dict[str, int]:
        """Number of features of each of them."""

    @property
    def average(self) -> dict[str, np.ndarray]:
        """What the average row of each view adds to the scores."""

    def beyond_average(self, families: Mapping[str, Family], name: str, batch: Batch) -> np.ndarray:
        """Return what a view of the one row of a batch adds beyond the average row."""

    def explained(self, families: Mapping[str, Family], name: str, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        """Return what each statistic of one row adds beyond the average row, and what all of them leave."""

    @property
    def curves(self) -> Curves | None:
        """Functions of single columns, if it has any."""

    def explained_curves(
        self, families: Mapping[str, Family], batch: Batch
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return what its curves add to the scores of one row by statistics of views, and by linear scores of views."""

    def check(self, families: Mapping[str, Family]) -> None:
        """Refuse what does not go with the views, such as that of a file that was changed."""

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep, under names of its own."""


#: kinds of parts, each of which finds its own constants in a file
KINDS = (LinearPart,)


def restored_parts(constants: Constants, n_outputs: int) -> tuple[InputPart, ...]:
    """Return the parts that were kept."""
    found = (kind.restored(constants, n_outputs) for kind in KINDS)
    return tuple(part for part in found if part is not None)
