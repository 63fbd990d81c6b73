"""Heads that are linear in the hidden means: a loss on scores, and its sub-gradient by them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.heads.base import Head
from harmonium.hidden import HiddenLayer
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.targets import Targets
from harmonium.validation import Choice, Number

LossWeight = float | Literal["auto"]
# values of C that "auto" goes through: benchmarks/newsgroups_classification.py and hotel_regression.py choose from both
# ends of it
_AUTO = (1.6, 0.4, 0.1)


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
    settings = {
        "C": Number(remedy="'auto' chooses it on held-out rows", also=("auto",)),
        "ridge": Number(remedy="0.001 is usual"),
        "solver": Choice(("joint", "alternate"), remedy="'joint' is faster"),
    }

    def __init__(
        self, C: LossWeight = "auto", ridge: float = 1e-3, solver: Literal["joint", "alternate"] = "joint"
    ) -> None:
        self.C = C
        self.ridge = ridge
        self.solver = solver

    @property
    def weights_to_try(self) -> tuple[float, ...]:
        """C, or some values of it."""
        return _AUTO if self.C == "auto" else (float(self.C),)

    @property
    def is_solved(self) -> bool:
        """As ``solver`` says."""
        return self.solver == "alternate"

    def no_batches(self) -> str | None:
        """A head that is solved for needs all rows."""
        if not self.is_solved:
            return None
        return (
            "partial_fit needs a head with solver='joint'; got 'alternate', which solves for all rows at once; use "
            "fit instead."
        )

    @property
    def n_directions(self) -> int:
        """Number of columns of V: as many as there are scores, unless scores share them."""
        return self.n_outputs_

    def initial_parameters(self, layer: HiddenLayer) -> Parameters:
        """No opinion yet."""
        return {
            HEAD_WEIGHTS: np.zeros((layer.n_units_, self.n_directions), dtype=np.float32),
            HEAD_BIAS: np.zeros(self.n_outputs_, dtype=np.float32),
        }

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        """V, transposed."""
        return parameters[HEAD_WEIGHTS].T

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
    ) -> tuple[float, np.ndarray | None]:
        """Loss and sub-gradient of a batch; V's own is added unless V is solved for."""
        scores = self.scores_of(parameters, hidden_mean)
        losses, by_score = self.loss(scores, targets.values)
        by_score *= (strength * targets.weight[:, None]).astype(by_score.dtype)
        weights = parameters[HEAD_WEIGHTS]
        # scores that share a direction move it together
        by_direction = by_score if self.n_directions == self.n_outputs_ else by_score.sum(axis=1, keepdims=True)
        if not self.is_solved:
            gradient[HEAD_WEIGHTS] += hidden_mean.T @ by_direction + strength * self.ridge * len(scores) * weights
            gradient[HEAD_BIAS] += by_score.sum(axis=0)
        loss = float(losses @ targets.weight) + self.penalty(parameters) * len(scores)
        return strength * loss, (by_direction @ weights.T) * layer.mean_derivative(natural)
