"""What a head must be able to do: score rows, and say how wrong the scores are.

A head is a loss on scores and its sub-gradient by them. Where the scores come from, and what the sub-gradient does to
the weights of the views, is the same for all heads that are linear in the hidden means.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from harmonium.batch import Batch, Targets
from harmonium.energy import Energy
from harmonium.hidden import HiddenLayer
from harmonium.kernels.dual import TOLERANCE
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.parts import Part
from harmonium.validation import check_real

LossWeight = float | Literal["auto"]


class Head(Part):
    """A prediction that is trained together with the latent space.

    Attributes
    ----------
    n_outputs_ : int
        Number of scores of a row.
    """

    role = "head"
    #: kinds of targets it takes: class numbers ("class"), numbers ("number"), 0 and 1 for several labels ("label")
    kinds: tuple[str, ...] = ()
    n_outputs_: int

    def check(self) -> None:
        """Refuse settings that make no sense, before anything is computed."""

    def takes(self, kind: str) -> bool:
        """Whether it predicts targets of this kind."""
        return kind in self.kinds

    def bind(self, targets: Targets, n_classes: list[int]) -> Self:
        """Copy of the head that knows its outputs; ``n_classes``: of each column of the targets that holds classes."""
        raise NotImplementedError

    def constants(self) -> dict[str, np.ndarray]:
        """Fitted arrays that a file has to keep."""
        return {}

    def restore(self, n_classes: list[int], constants: dict[str, np.ndarray]) -> Self:
        """Inverse of `bind`, from the constants."""
        raise NotImplementedError

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Targets as the loss takes them."""
        return values

    def decode(self, scores: np.ndarray) -> np.ndarray:
        """Scores of numbers in the units of the targets."""
        return scores

    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Scores of the rows of a completed batch, shape (rows, outputs)."""
        raise NotImplementedError

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """What counts when settings are chosen on held-out rows, for each row; zero where the target is unknown."""
        raise NotImplementedError


class LinearHead(Head):
    """Scores E[h | x] V + b.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Weight of the prediction loss, in units of what an item costs to describe: with C = 1 a loss of 1 weighs as much
        as all the nats of an average item under the marginals of its features. So the same C serves ten features and
        ten thousand. "auto" chooses it on held-out training rows.
    ridge : float, default=0.001
        Half of it times the squared norm of V is added to the mean loss. An SVM's own C, for n rows, is 1 / (n ridge).
    solver : {"joint", "alternate"}, default="joint"
        Move V with all other parameters, or solve for it to the optimum after every epoch, as the paper does.
    """

    role = "head"  # another abstract base

    def __init__(
        self, C: LossWeight = "auto", ridge: float = 1e-3, solver: Literal["joint", "alternate"] = "joint"
    ) -> None:
        self.C = C
        self.ridge = ridge
        self.solver = solver

    def check(self) -> None:
        """C, ridge and solver."""
        owner = type(self).__name__
        if not (isinstance(self.C, str) and self.C == "auto"):
            check_real(owner, "C", self.C, remedy="'auto' chooses it on held-out rows")
        check_real(owner, "ridge", self.ridge, remedy="0.001 is usual")
        if self.solver not in ("joint", "alternate"):
            raise ValueError(f"{owner} needs solver 'joint' or 'alternate'; got {self.solver!r}; 'joint' is faster.")

    def initial_parameters(self, layer: HiddenLayer) -> Parameters:
        """No opinion yet."""
        return {
            HEAD_WEIGHTS: np.zeros((layer.n_units_, self.n_outputs_), dtype=np.float32),
            HEAD_BIAS: np.zeros(self.n_outputs_, dtype=np.float32),
        }

    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """E[h | x] V + b."""
        # in double precision rounding does not depend on where in the batch a row stands
        natural = energy.hidden_natural(parameters, batch).astype(np.float64)
        return self.scores_of(parameters, energy.layer(parameters).mean(natural))

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Loss of each row, and its sub-gradient by the scores; zero where the target is unknown."""
        raise NotImplementedError

    def scores_of(self, parameters: Parameters, hidden_mean: np.ndarray) -> np.ndarray:
        """Scores of hidden means."""
        return hidden_mean @ parameters[HEAD_WEIGHTS] + parameters[HEAD_BIAS]

    def penalty(self, parameters: Parameters) -> float:
        """Half the ridge times ‖V‖²."""
        return 0.5 * self.ridge * float(np.square(parameters[HEAD_WEIGHTS], dtype=np.float64).sum())

    def add_statistics(
        self,
        gradient: Parameters,
        parameters: Parameters,
        layer: HiddenLayer,
        natural: np.ndarray,
        hidden_mean: np.ndarray,
        targets: Targets,
        strength: float,
    ) -> tuple[float, np.ndarray]:
        """Loss of a batch times ``strength``, and its sub-gradient by the hidden naturals; V's own is added."""
        scores = self.scores_of(parameters, hidden_mean)
        losses, by_score = self.loss(scores, targets.values)
        by_score *= (strength * targets.weight[:, None]).astype(by_score.dtype)
        weights = parameters[HEAD_WEIGHTS]
        if self.solver == "joint":
            gradient[HEAD_WEIGHTS] += hidden_mean.T @ by_score + strength * self.ridge * len(scores) * weights
            gradient[HEAD_BIAS] += by_score.sum(axis=0)
        loss = float(losses @ targets.weight) + self.penalty(parameters) * len(scores)
        return strength * loss, (by_score @ weights.T) * layer.mean_derivative(natural)

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """V and b that minimise mean loss + ridge/2 ‖(V, b)‖² for fixed hidden means, and the dual to go on from.

        ``tolerance``: gap to the optimum, relative to the objective, that may remain.
        """
        raise NotImplementedError


def standard(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (1 for constants) of each column of targets, over what is known."""
    location, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    # a spread that is rounding error relative to the size is none
    return location, np.where(scale > 1e-14 * np.abs(location), scale, 1.0)
