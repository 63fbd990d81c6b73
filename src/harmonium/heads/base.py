"""What a head must be able to do: score rows, say how wrong the scores are, and turn them into predictions.

`Head` is what everyone else sees. `harmonium.heads.linear` has the base of heads that are linear in the hidden means:
there a new head is a loss on scores and its sub-gradient by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.heads.outputs import UNCALIBRATED, Outputs
from harmonium.hidden import HiddenLayer
from harmonium.kernels.dual import TOLERANCE
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.targets import Kind, Labels, Meaning, Targets

Constants = Mapping[str, np.ndarray]


class Head(Part):
    """A prediction that is trained together with the latent space.

    Attributes
    ----------
    n_outputs_ : int
        Number of scores of a row.
    outputs_ : Outputs
        What the scores mean.
    factors_ : ndarray
        What calibration on held-out rows found; empty before.
    """

    role = "head"
    #: kinds of targets it takes: class numbers ("class"), numbers ("number"), 0 and 1 for several labels ("label")
    kinds: tuple[Kind, ...] = ()
    #: names of the views that it adds to the model
    view_names: tuple[str, ...] = ()
    #: whether rows can weigh more or less in what it learns from
    weighs_rows: bool = True
    n_outputs_: int
    outputs_: Outputs
    factors_: np.ndarray = UNCALIBRATED

    # ---- settings and binding ------------------------------------------------------------------------------------
    def check(self) -> None:
        """Refuse settings that make no sense, before anything is computed."""

    def takes(self, kind: Kind) -> bool:
        """Whether it predicts targets of this kind."""
        return kind in self.kinds

    def bind(self, labels: Labels) -> Self:
        """Copy of the head that knows what it predicts."""
        raise NotImplementedError

    def constants(self) -> dict[str, np.ndarray]:
        """Fitted arrays that a file has to keep."""
        return {"factors": self.factors_}

    def restore(self, meaning: Meaning, constants: Constants) -> Self:
        """Inverse of `bind` and `constants`; raises a ValueError if they contradict each other."""
        raise NotImplementedError

    def targets(self, labels: Labels) -> Targets:
        """Targets as the loss takes them."""
        return labels.targets

    # ---- what it adds to the model -------------------------------------------------------------------------------
    def added_views(self, targets: Targets) -> dict[str, tuple[Family, np.ndarray]]:
        """Family and data (NaN where unknown) of each view that it adds to the model."""
        return {}

    @property
    def class_view(self) -> str | None:
        """Name of the view that holds the classes, if they are a view."""
        return None

    def initial_parameters(self, layer: HiddenLayer) -> Parameters:
        """Parameters of the head itself, as training starts."""
        return {}

    # ---- learning ------------------------------------------------------------------------------------------------
    @property
    def weights_to_try(self) -> tuple[float, ...]:
        """Weights of the loss, in units of what an item costs to describe, to choose from on held-out rows."""
        return (1.0,)

    @property
    def is_solved(self) -> bool:
        """Whether its parameters are solved for between epochs, rather than moved by gradients."""
        return False

    def no_batches(self) -> str | None:
        """Why ``partial_fit`` cannot be had; None if it can."""
        return None

    def add_statistics(
        self,
        gradient: Parameters,
        parameters: Parameters,
        layer: HiddenLayer,
        natural: np.ndarray,
        hidden_mean: np.ndarray,
        targets: Targets,
        strength: float,
    ) -> tuple[float, np.ndarray | None]:
        """Loss of a batch times ``strength``, and its sub-gradient by the hidden naturals (None if it has none).

        That by the head's own parameters is added to ``gradient``.
        """
        return 0.0, None

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Best parameters for fixed hidden means, and the dual to go on from.

        ``tolerance``: gap to the optimum, relative to the objective, that may remain.
        """
        raise NotImplementedError

    # ---- predicting ----------------------------------------------------------------------------------------------
    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Scores of the rows of a completed batch, shape (rows, outputs)."""
        raise NotImplementedError

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """What counts when settings are chosen on held-out rows, for each row; zero where the target is unknown."""
        raise NotImplementedError

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        """Weights of the topics in the scores, (outputs, units)."""
        raise NotImplementedError

    def calibrated(self, scores: np.ndarray, targets: Targets) -> Self:
        """Copy of the head that has learned from held-out rows what its scores are worth."""
        return self._with_factors(self.outputs_.calibrate(scores, targets))

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Class numbers, 0 and 1, or numbers in the units of the targets, (rows, columns)."""
        return self.outputs_.predict(scores, self.factors_)

    def decisions(self, scores: np.ndarray) -> Any:
        """Decision function of each column of classes (a list), or of all labels (one array)."""
        return self.outputs_.decisions(scores, self.factors_)

    def probabilities(self, scores: np.ndarray) -> Any:
        """Probabilities of the classes of each column (a list), or of all labels (one array)."""
        return self.outputs_.probabilities(scores, self.factors_)

    def _with_factors(self, factors: np.ndarray) -> Self:
        if factors.shape not in ((0,), (self.outputs_.n_factors,)) or not np.isfinite(factors).all():
            raise ValueError(f"the factors of probabilities must be {self.outputs_.n_factors} finite numbers")
        result = copy(self)
        result.factors_ = factors
        return result


def constant(constants: Constants, name: str, length: int) -> np.ndarray:
    """An array that a file kept; raises a ValueError unless it holds so many finite numbers."""
    value = constants.get(name)
    if value is None or value.shape != (length,) or not np.isfinite(value).all():
        raise ValueError(f"{name} of the head must be finite numbers of shape ({length},)")
    return value
