"""Base of all heads: score rows, say how wrong the scores are, and turn them into predictions.

`Head` is what everyone else sees. `harmonium.heads.linear` has the base of heads that are linear in the hidden means:
there a new head is a loss on scores and its sub-gradient by the scores.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.heads.outputs import UNCALIBRATED, Outputs
from harmonium.heads.outputs.constants import Constants
from harmonium.hidden import BernoulliUnits, HiddenLayer
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE
from harmonium.linear.scaling import Features
from harmonium.linear.skip import LinearPart
from harmonium.linear.solvers import LinearLoss, Solution
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.targets import Kind, Labels, Targets, TargetSpec


class Head(Part):
    """Base of all heads: a prediction that is trained together with the latent space.

    A subclass names the kinds of targets it predicts and defines `bind`, `restore`, `scores`, `error` and
    `coefficients`. What follows from the meaning of the scores (predictions, decisions, probabilities, calibration) is
    derived from ``outputs_``. A head whose scores are linear in the hidden means derives from `LinearHead`.

    Attributes
    ----------
    n_outputs_ : int
        Number of scores of a row.
    outputs_ : Outputs
        Meaning of the scores: one of the classes of `harmonium.heads.outputs`.
    factors_ : ndarray
        Factors that calibration on held-out rows has found; empty before.

    See Also
    --------
    LinearHead : Base of heads that are linear in the hidden means.

    Notes
    -----
    A head belongs to the user and is never changed: `bind`, `restore` and `calibrated` return copies.

    Examples
    --------
    >>> from harmonium import Hinge
    >>> head = Hinge(C=1.0)
    >>> head.takes("class"), head.takes("number")
    (True, False)
    """

    role = "head"
    #: kinds of targets it takes: class numbers ("class"), numbers ("number"), 0 and 1 for several labels ("label")
    kinds: tuple[Kind, ...] = ()
    #: names of the views that it adds to the model
    view_names: tuple[str, ...] = ()
    #: whether rows can weigh more or less in what it learns from
    weighs_rows: bool = True
    #: whether families that leave it open bring rows of different totals to one scale for it
    levels_rows: bool = False
    n_outputs_: int
    outputs_: Outputs
    factors_: np.ndarray = UNCALIBRATED
    linear_part_: LinearPart | None = None
    #: weight of the loss, in units of what an average item costs to describe
    C: float = 1.0

    # ---- settings and binding ------------------------------------------------------------------------------------
    def takes(self, kind: Kind) -> bool:
        """Return whether the head predicts targets of a kind.

        Parameters
        ----------
        kind : {"class", "number", "label"}
            Classes, numbers, or several labels at once.

        Returns
        -------
        bool
            True if the kind is one of ``kinds`` and the settings allow it.
        """
        return kind in self.kinds

    def bind(self, labels: Labels) -> Self:
        """Return a copy of the head that knows what it predicts.

        Parameters
        ----------
        labels : Labels
            Targets of all training rows as the user gave them, and their meaning.

        Returns
        -------
        Head
            A head of the same settings that has ``n_outputs_``, ``outputs_`` and whatever else it learns from the
            labels before training starts.
        """
        raise NotImplementedError

    def with_more(self, labels: Labels) -> Self:
        """Return a copy of the head that knows of more training rows.

        Parameters
        ----------
        labels : Labels
            Targets of rows that training goes on with, and their meaning.

        Returns
        -------
        Head
            The head itself, unless later rows teach it more than its weights.
        """
        return self

    def constants(self) -> dict[str, np.ndarray]:
        """Return the fitted arrays that a file has to keep.

        Returns
        -------
        dict of str to ndarray
            Arrays by name; "factors" is always among them.
        """
        return {"factors": self.factors_} | ({} if self.linear_part_ is None else self.linear_part_.constants())

    def restore(self, meaning: TargetSpec, constants: Constants) -> Self:
        """Return a copy of the head as `bind` and `constants` described it.

        Parameters
        ----------
        meaning : TargetSpec
            Kind, classes and columns of the targets.
        constants : mapping of str to ndarray
            What `constants` returned.

        Returns
        -------
        Head
            A head that predicts as the one whose constants were kept.

        Raises
        ------
        ValueError
            If the constants are missing, not finite, or do not fit the meaning.
        """
        raise NotImplementedError

    def restored(self, meaning: TargetSpec, constants: Constants) -> Self:
        """Return a copy with all that `constants` keeps, the linear part included.

        Parameters
        ----------
        meaning : TargetSpec
            Kind, classes and columns of the targets.
        constants : mapping of str to ndarray
            What `constants` returned.

        Returns
        -------
        Head
            A head that predicts as the one whose constants were kept.
        """
        head = self.restore(meaning, constants)
        return head.with_linear_part(LinearPart.restored(constants, head.n_outputs_))

    def with_linear_part(self, part: LinearPart | None) -> Self:
        """Return a copy of the head with another linear part.

        Parameters
        ----------
        part : LinearPart, optional
            Weights of the inputs in the scores; None for none.

        Returns
        -------
        Head
            A head of the same settings that has learned the same otherwise.
        """
        if part is self.linear_part_:
            return self
        result = copy(self)
        result.linear_part_ = part
        return result

    def targets(self, labels: Labels) -> Targets:
        """Return the targets in the form in which the loss takes them.

        Parameters
        ----------
        labels : Labels
            Targets as the user gave them, and their meaning.

        Returns
        -------
        Targets
            Values of shape (rows, columns) and weights of shape (rows,), such as standardised numbers or weights that
            are multiplied by those of the classes.
        """
        return labels.targets

    # ---- what it adds to the model -------------------------------------------------------------------------------
    def added_views(self, targets: Targets) -> dict[str, tuple[Family, np.ndarray]]:
        """Return the views that the head adds to the model.

        Parameters
        ----------
        targets : Targets
            Targets of all training rows, as `targets` returns them.

        Returns
        -------
        dict of str to (Family, ndarray)
            Family and data of each view in ``view_names``; the data have a row for each training row, and NaN where the
            target is unknown.
        """
        return {}

    def names_of_added(self, meaning: TargetSpec) -> dict[str, list[str]]:
        """Return the names of the features of the views that the head adds.

        Parameters
        ----------
        meaning : TargetSpec
            Kind, classes, columns and names of the targets.

        Returns
        -------
        dict of str to list of str
            Names by view in ``view_names``.
        """
        return {}

    @property
    def class_view(self) -> str | None:
        """Name of the view that holds the classes; None if no view does."""
        return None

    def initial_parameters(self, layer: HiddenLayer, rng: np.random.Generator | None = None) -> Parameters:
        """Return the parameters of the head itself, as training starts.

        Parameters
        ----------
        layer : HiddenLayer
            The hidden layer, which knows its number of units.
        rng : numpy.random.Generator, optional
            Source of random numbers; without it weights are zero.

        Returns
        -------
        dict of str to ndarray
            Arrays in float32 whose names start with "head."; empty for a head without parameters of its own.
        """
        return {}

    def default_layer(self) -> HiddenLayer:
        """Return the hidden layer of a model with this head, unless the user names one.

        Returns
        -------
        HiddenLayer
            A layer that is not bound.
        """
        return BernoulliUnits()

    # ---- learning ------------------------------------------------------------------------------------------------
    def is_uneven(self, targets: Targets) -> bool:
        """Return whether some classes have many times as many rows as others.

        Parameters
        ----------
        targets : Targets
            Targets of all training rows.

        Returns
        -------
        bool
            False if there are no classes.
        """
        return False

    def may_soften(self, targets: Targets) -> bool:
        """Return whether weights of classes are to be tried on held-out rows.

        Parameters
        ----------
        targets : Targets
            Targets of all training rows.

        Returns
        -------
        bool
            True if the settings leave it open and classes are uneven.
        """
        return False

    def softened(self, targets: Targets) -> Targets:
        """Return targets with more emphasis on rare classes.

        Parameters
        ----------
        targets : Targets
            Targets of training rows.

        Returns
        -------
        Targets
            The same values and weights, and another emphasis.
        """
        return targets

    @property
    def is_solved(self) -> bool:
        """Whether the parameters are solved for between epochs, not moved by gradients."""
        return False

    @property
    def allows_linear_part(self) -> bool:
        """Whether the scores may have a linear part: a skip connection from the inputs."""
        return False

    @property
    def allows_kernel(self) -> bool:
        """Whether Nystroem features may take the place of the inputs in that part.

        It is not linear in the inputs then.
        """
        return False

    def no_batches(self) -> str | None:
        """Return why the head cannot be trained by ``partial_fit``.

        Returns
        -------
        str or None
            One sentence that says what to do instead; None if it can.
        """
        return None

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
        """Add the gradient of a batch and return its loss.

        Parameters
        ----------
        gradient : dict of str to ndarray
            Sums of gradients by parameter. The gradient by the head's own parameters is added to them in place.
        parameters : dict of str to ndarray
            All parameters of the model.
        layer : HiddenLayer
            The hidden layer at its own parameters.
        natural : ndarray of shape (rows, units)
            Natural parameters of the hidden units given the views.
        hidden_mean : ndarray of shape (rows, units)
            E[h | x], the means at these naturals.
        targets : Targets
            Targets of the same rows. Unknown ones must add nothing.
        loss_weight : float
            Factor of loss and gradient, in nats.

        Returns
        -------
        loss : float
            Sum over the rows of the weighted loss, times ``loss_weight``.
        by_natural : ndarray of shape (rows, units) or None
            Sub-gradient of that loss by ``natural``; None if the head has no loss.
        """
        return 0.0, None

    #: losses that a linear model of the inputs may have, the usual one first
    linear_losses: tuple[LinearLoss, ...] = ()
    #: their loss if they have Nystroem features: least squares are quick there, and about as good as machines
    kernel_loss: LinearLoss = LinearLoss("squares")

    def suits_linear_loss(self, loss: LinearLoss, n_rows: int, n_features: int, counted: bool) -> bool:
        """Return whether a loss is worth trying in linear models of the inputs.

        Parameters
        ----------
        loss : LinearLoss
            One of ``linear_losses``.
        n_rows : int
            Number of rows.
        n_features : int
            Number of features.
        counted : bool
            Whether some features count something and have rows of length 1, so that they can have naive-Bayes weights.

        Returns
        -------
        bool
            False if it has nothing to add, or is not solved in a moment.
        """
        return counted or loss.smoothing is None

    def solve_linear(self, features: Features, targets: Targets, C: float, loss: LinearLoss) -> Solution:
        """Return a linear model of given features, such as those of the linear part.

        Parameters
        ----------
        features : ndarray or sparse array of shape (rows, features)
            Scaled views, or means of hidden units.
        targets : Targets
            Targets of the same rows, all of them known.
        C : float
            Weight of the loss: the penalty is half the squared norm of the weights, divided by it.
        loss : LinearLoss
            One of ``linear_losses``.

        Returns
        -------
        weights : ndarray of shape (features, n_outputs_)
            U.
        bias : ndarray of shape (n_outputs_,)
            Bias of each score.
        """
        raise NotImplementedError

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Return the best parameters for fixed hidden means.

        Only called if ``is_solved`` is True.

        Parameters
        ----------
        hidden_mean : ndarray of shape (rows, units)
            E[h | x] of all training rows.
        targets : Targets
            Targets of the same rows.
        dual : object, optional
            What the last call returned for the same rows, to continue from.
        tolerance : float, default=1e-4
            Gap to the optimum, relative to the objective, that may remain.

        Returns
        -------
        parameters : dict of str to ndarray
            The head's own parameters.
        dual : object
            State from which the next call can continue.
        """
        raise NotImplementedError

    # ---- predicting ----------------------------------------------------------------------------------------------
    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Return the scores of the rows of a batch.

        Parameters
        ----------
        energy : Energy
            Structure of the model.
        parameters : dict of str to ndarray
            All parameters of the model.
        batch : Batch
            Rows whose missing part has been filled in; views that the head adds count as missing.

        Returns
        -------
        ndarray of shape (rows, n_outputs_)
            Scores, which ``outputs_`` can interpret.
        """
        raise NotImplementedError

    def score_parts(self, energy: Energy, parameters: Parameters, batch: Batch) -> dict[str, np.ndarray]:
        """Return what the scores of the rows of a batch are the sum of.

        Parameters
        ----------
        energy : Energy
            Structure of the model.
        parameters : dict of str to ndarray
            All parameters of the model.
        batch : Batch
            Rows whose missing part has been filled in.

        Returns
        -------
        dict of str to ndarray of shape (rows, n_outputs_)
            "topics"; if there is any, "bias"; the name of each view that adds to the scores directly; and "curves", if
            there are any.
        """
        return {"topics": self.scores(energy, parameters, batch)}

    def scores_given_hidden(self, energy: Energy, parameters: Parameters, hidden_mean: np.ndarray) -> np.ndarray:
        """Return the part of the scores that is linear in the means of the units.

        Parameters
        ----------
        energy : Energy
            Structure of the model.
        parameters : dict of str to ndarray
            All parameters of the model.
        hidden_mean : ndarray of shape (rows, units)
            E[h | x] of the rows.

        Returns
        -------
        ndarray of shape (rows, n_outputs_)
            Scores, without those of a linear part.
        """
        raise NotImplementedError

    def seen(self, batch: Batch) -> Batch:
        """Return the views that the units are inferred from when rows are scored.

        Parameters
        ----------
        batch : Batch
            Rows whose missing part has been filled in.

        Returns
        -------
        Batch
            All views, unless a view that the head adds is not looked at.
        """
        return batch

    def scores_at(self, energy: Energy, parameters: Parameters, natural: np.ndarray) -> np.ndarray:
        """Return the part of the scores that comes from units with some naturals.

        Parameters
        ----------
        energy : Energy
            Structure of the model.
        parameters : dict of str to ndarray
            All parameters of the model.
        natural : ndarray of shape (rows, units)
            Naturals of the units given the views that are `seen`, in float64.

        Returns
        -------
        ndarray of shape (rows, n_outputs_)
            Scores, without those of a linear part.
        """
        return self.scores_given_hidden(energy, parameters, energy.layer(parameters).mean(natural))

    def unit_effects(
        self, energy: Energy, parameters: Parameters, natural: np.ndarray, before: np.ndarray, parts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how parts of a move of naturals move units, and these the scores.

        Parameters
        ----------
        energy : Energy
            Structure of the model.
        parameters : dict of str to ndarray
            All parameters of the model.
        natural, before : ndarray of shape (units,)
            Naturals of the units after and before the move, in float64.
        parts : ndarray of shape (parts, units)
            Parts of ``natural - before``.

        Returns
        -------
        moves : ndarray of shape (parts, units)
            Moves of each unit.
        rates : ndarray of shape (units, n_outputs_)
            By how much a score moves with each unit. Parts that add up to ``natural - before`` add up to the move of
            the scores, ``moves @ rates``.
        """
        layer = energy.layer(parameters)
        ends = np.vstack([np.eye(len(natural)), np.zeros(len(natural))])
        scores = self.scores_given_hidden(energy, parameters, ends).astype(np.float64)
        return layer.moved_by(natural, before, parts), scores[:-1] - scores[-1]

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the error of each row, by which settings are chosen on held-out rows.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.
        targets : ndarray of shape (rows, columns)
            Values of the targets, as `targets` returns them.

        Returns
        -------
        ndarray of shape (rows,)
            Errors, of which the mean is to be small; zero where the target is unknown.
        """
        raise NotImplementedError

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        """Return the weights of the topics in the scores.

        Parameters
        ----------
        parameters : dict of str to ndarray
            All parameters of the model.

        Returns
        -------
        ndarray of shape (n_outputs_, units)
            A row for each score; a single one if all scores share it.
        """
        raise NotImplementedError

    def calibrated(self, scores: np.ndarray, targets: Targets) -> Self:
        """Return a copy of the head that has learned what its scores are worth.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of rows that the model was not trained on.
        targets : Targets
            Targets of the same rows.

        Returns
        -------
        Head
            A head with ``factors_``, which `predict`, `decisions` and `probabilities` use.
        """
        return self._with_factors(self.outputs_.calibrate(scores, targets.as_rows()))

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return what the scores predict.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.

        Returns
        -------
        ndarray of shape (rows, columns)
            Class numbers, 0 and 1 for labels, or numbers in the units of the user's targets.
        """
        return self.outputs_.predict(scores, self.factors_)

    def decisions(self, scores: np.ndarray) -> Any:
        """Return the decision function of scikit-learn; heads of numbers have none.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.

        Returns
        -------
        list of ndarray, or ndarray
            For classes a list with an array for each column: shape (rows, classes), or (rows,) for two classes. For
            labels one array of shape (rows, labels).
        """
        return self.outputs_.decisions(scores, self.factors_)

    def probabilities(self, scores: np.ndarray) -> Any:
        """Return the probabilities of classes or labels; heads of numbers have none.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.

        Returns
        -------
        list of ndarray, or ndarray
            For classes a list with an array of shape (rows, classes) for each column; for labels one array of shape
            (rows, labels).
        """
        return self.outputs_.probabilities(scores, self.factors_)

    def half_widths(self, interval: float) -> np.ndarray:
        """Return how far intervals of predicted numbers reach to both sides.

        Parameters
        ----------
        interval : float
            Probability with which an interval holds the number of a new row.

        Returns
        -------
        ndarray of shape (columns,)
            Half of the width for each output, in the units of the user's targets; infinite if too few rows were held
            out for such a probability.

        Raises
        ------
        ValueError
            If the head does not predict numbers by their distance, or no rows were held out.
        """
        if not self.outputs_.has_intervals:
            raise ValueError(
                f"Intervals need a head that predicts numbers by how far it is off; got {type(self).__name__}; fit "
                "with EpsilonInsensitive()."
            )
        if not self.factors_.size:
            raise ValueError(
                "Intervals need the errors of held-out rows; no rows were held out when the model was last trained; "
                "fit 10 rows or more with a validation_fraction such as 0.15, without warm_start or partial_fit."
            )
        return self.outputs_.half_widths(self.factors_, interval)

    def uncalibrated(self) -> Self:
        """Return a copy of the head that knows nothing of held-out rows.

        Returns
        -------
        Head
            A head without ``factors_``.
        """
        return self._with_factors(UNCALIBRATED)

    def _knowing(self, outputs: Outputs) -> Self:
        """Return a copy with other outputs, which keeps everything else that it has learned."""
        result = copy(self)
        result.outputs_ = outputs
        return result

    def _with_factors(self, factors: np.ndarray) -> Self:
        if not self.outputs_.accepts(factors):
            raise ValueError("the factors of the head must be finite numbers, as many as its calibration finds")
        result = copy(self)
        result.factors_ = factors
        return result
