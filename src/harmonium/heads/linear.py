"""Heads that are linear in the hidden means: a loss on scores, and its sub-gradient by the scores."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Targets
from harmonium.core.validation import Choice, Number
from harmonium.heads.base import Head
from harmonium.heads.readout import LinearReadout
from harmonium.hidden import BernoulliUnits, ComposedUnits, HiddenLayer
from harmonium.hidden.derivatives import by_natural

LinearPartSetting = Literal["auto", "linear", False]
#: the setting of heads that can have a linear part
LINEAR_PART = Choice(("auto", "linear", False), remedy="'auto' is usual, False leaves the topics alone")
# Scale of V at the start: with V of zero no unit knows what it is for, and the first half of a fit is spent on finding
# out. A convention.
_START = 0.1
#: C unless the user names another: a convention, as steps of Adam hardly depend on it
USUAL_C = 1.6
# Dimensions of a model without a linear part, which images need more of than texts do: a convention.
_N_ALONE = 100


class LinearHead(Head):
    """Base of heads whose scores are linear in the hidden means: E[h | x] V + b.

    A subclass names its ``kinds`` and defines `outputs_of`, `restored_outputs`, `loss` and `error`; and `solve`, if
    ``solver="alternate"`` is to work. Gradients by V, b and the parameters of the model follow from the loss.

    Parameters
    ----------
    C : float, default=1.6
        Weight of the prediction loss, in units of what an average item costs to describe: with C = 1 a loss of 1 weighs
        as much as all the nats of an average item under the marginals of its features. So the same C serves ten
        features and ten thousand, and errors hardly depend on it.
    ridge : float, default=0.001
        Half of it times the squared norm of V is added to the mean loss; it corresponds to C = 1 / (n ridge) of a
        support vector machine on n rows. The weight decay of a driver shrinks V besides, unless V is solved for.
    solver : {"joint", "alternate"}, default="joint"
        Move V and b with all other parameters, or solve for them to the optimum after every epoch, as the paper does.

    Attributes
    ----------
    n_outputs_ : int
        Number of scores of a row.
    outputs_ : Outputs
        Meaning of the scores.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis, §4.

    Examples
    --------
    >>> from harmonium import EpsilonInsensitive
    >>> from harmonium.core.targets import Labels, TargetSpec, Targets
    >>> labels = Labels(TargetSpec("number", []), Targets(np.array([[1.0], [3.0]]), np.ones(2)))
    >>> head = EpsilonInsensitive(C=1.0).bind(labels)
    >>> scores = head.scores_of({"head.weights": np.array([[2.0]]), "head.bias": np.zeros(1)}, np.array([[0.5]]))
    >>> scores.tolist(), head.outputs_.predict(scores).tolist()  # the targets have mean 2 and standard deviation 1
    ([[1.0]], [[3.0]])
    """

    role = "head"  # another abstract base
    #: whether scores may have a linear part; heads that can have one take it as a setting
    linear_part: LinearPartSetting = False
    formerly = {"direct": "linear_part"}
    settings = {
        "C": Number(remedy="1.6 is usual"),
        "ridge": Number(remedy="0.001 is usual"),
        "solver": Choice(("joint", "alternate"), remedy="'joint' is faster"),
    }

    def __init__(
        self, C: float = USUAL_C, ridge: float = 1e-3, solver: Literal["joint", "alternate"] = "joint"
    ) -> None:
        self.C = C
        self.ridge = ridge
        self.solver = solver

    def check(self) -> None:
        """Refuse a linear part that the solver cannot have, too."""
        super().check()
        if self.linear_part == "linear" and self.is_solved:
            raise ValueError(
                f"{type(self).__name__} with solver='alternate' has topics alone; got linear_part='linear'; pass "
                "linear_part=False, or solver='joint'."
            )

    def default_layer(self) -> HiddenLayer:
        """Return topics that read and dimensions that predict.

        There are more dimensions where no linear part helps them. If the head is solved for, as in the paper, binary
        units.
        """
        if self.is_solved:
            return BernoulliUnits()
        return ComposedUnits() if self._allowed[0] else ComposedUnits(dimensions=BernoulliUnits(_N_ALONE))

    @property
    def is_solved(self) -> bool:
        """Whether ``solver`` is "alternate"."""
        return self.solver == "alternate"

    @property
    def _allowed(self) -> tuple[bool, bool]:
        """Whether scores may have a linear part, unless the head is solved for, and whether a kernel may be in it."""
        return self.linear_part is not False and not self.is_solved, self.linear_part == "auto"

    @property
    def n_directions(self) -> int:
        """Number of columns of V: as many as there are scores, unless scores share them."""
        return self.n_outputs_

    def initial_parameters(self, layer: HiddenLayer, rng: np.random.Generator | None = None) -> Parameters:
        """Return V of small random numbers, and b for which scores start at zero.

        That is where the units have the means that they start from.
        """
        weights = np.zeros((layer.n_units_, self.n_directions))
        if rng is not None and not self.is_solved:
            weights = _START * rng.standard_normal(weights.shape)
        centre = layer.at(layer.extra_parameters()).mean(np.zeros(layer.n_units_))
        bias = np.broadcast_to(-(centre @ weights), (self.n_outputs_,))
        return {HEAD_WEIGHTS: weights.astype(np.float32), HEAD_BIAS: bias.astype(np.float32)}

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        """Return V, transposed, in units of y for one unit of a topic."""
        factor, _ = self.outputs_.units()
        return np.transpose(parameters[HEAD_WEIGHTS] * factor)

    @property
    def readout(self) -> LinearReadout:
        """Scores E[h | x] V + b."""
        return LinearReadout(lambda _, parameters, hidden_mean: self.scores_of(parameters, hidden_mean))

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss of each row and its sub-gradient by the scores.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.
        targets : ndarray of shape (rows, columns)
            Values of the targets, as `targets` returns them.

        Returns
        -------
        losses : ndarray of shape (rows,)
            Loss of each row, in float64; zero where the target is unknown.
        by_score : ndarray of shape (rows, n_outputs_)
            Sub-gradient of each row's loss by its scores, in the dtype of the scores. It may be changed by the caller.
        """
        raise NotImplementedError

    def scores_of(self, parameters: Parameters, hidden_mean: np.ndarray) -> np.ndarray:
        """Return the scores of hidden means.

        Parameters
        ----------
        parameters : dict of str to ndarray
            Parameters with "head.weights" (V) and "head.bias" (b).
        hidden_mean : ndarray of shape (rows, units)
            E[h | x] of the rows.

        Returns
        -------
        ndarray of shape (rows, n_outputs_)
            Scores.
        """
        return hidden_mean @ parameters[HEAD_WEIGHTS] + parameters[HEAD_BIAS]

    def penalty(self, parameters: Parameters) -> float:
        """Return half the ridge times the squared norm of V.

        Parameters
        ----------
        parameters : dict of str to ndarray
            Parameters with "head.weights".

        Returns
        -------
        float
            The penalty, to be added to the mean loss.
        """
        return 0.5 * self.ridge * float(np.square(parameters[HEAD_WEIGHTS], dtype=np.float64).sum())

    def add_statistics(
        self,
        gradient: Parameters,
        parameters: Parameters,
        layer: HiddenLayer,
        natural: np.ndarray,
        hidden_mean: np.ndarray,
        targets: Targets,
        loss_weight: float,
    ) -> tuple[float, np.ndarray | None]:
        """Add the gradient by V and b, unless they are solved for; return the loss."""
        scores = self.scores_of(parameters, hidden_mean)
        if targets.offset is not None:
            scores = scores + targets.offset.astype(scores.dtype)
        losses, by_score = self.loss(scores, targets.values)
        weight = targets.loss_weight
        by_score *= (loss_weight * weight[:, None]).astype(by_score.dtype)
        weights = parameters[HEAD_WEIGHTS]
        # scores that share a direction move it together
        by_direction = by_score if self.n_directions == self.n_outputs_ else by_score.sum(axis=1, keepdims=True)
        if not self.is_solved:
            gradient[HEAD_WEIGHTS] += hidden_mean.T @ by_direction + loss_weight * self.ridge * len(scores) * weights
            gradient[HEAD_BIAS] += by_score.sum(axis=0)
        loss = float(losses @ weight) + self.penalty(parameters) * len(scores)
        return loss_weight * loss, by_natural(layer, natural, by_direction @ weights.T)
