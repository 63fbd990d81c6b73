"""Base of all heads: score rows, say how wrong the scores are, and turn them into predictions.

`Head` is what everyone else sees. `harmonium.heads.linear` has the base of heads that are linear in the hidden means:
there a new head is a loss on scores and its sub-gradient by the scores.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters
from harmonium.core.parts import Part
from harmonium.core.targets import Kind, Labels, Targets, TargetSpec
from harmonium.energy import Energy
from harmonium.heads.added_view import AddedView
from harmonium.heads.input_parts import InputPart, restored_parts
from harmonium.heads.outputs import Outputs
from harmonium.heads.outputs.constants import Constants
from harmonium.heads.readout import Readout
from harmonium.hidden import BernoulliUnits, HiddenLayer
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE
from harmonium.linear.models import LinearModels


class Head(Part):
    """Base of all heads: a prediction that is trained together with the latent space.

    A subclass names the kinds of targets it predicts and defines `outputs_of`, `restored_outputs`, ``readout``, `error`
    and `coefficients`. What follows from the meaning of the scores (predictions, decisions, probabilities, calibration)
    is asked of ``outputs_``. What only some heads can do is an object that they carry, and others carry one that does
    nothing: ``added_views``, ``emphasis``, ``linear``, ``input_parts_``. A head whose scores are linear in the hidden
    means derives from `LinearHead`.

    Attributes
    ----------
    outputs_ : Outputs
        Meaning of the scores: one of the classes of `harmonium.heads.outputs`. It holds all that is learned from the
        targets besides weights.
    input_parts_ : tuple of InputPart
        Parts of the scores that come from the inputs directly, such as a linear one.

    See Also
    --------
    LinearHead : Base of heads that are linear in the hidden means.

    Notes
    -----
    A head belongs to the user and is never changed: `bind`, `restored` and `updated` return copies.

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
    outputs_: Outputs
    input_parts_: tuple[InputPart, ...] = ()
    #: weight of the loss, in units of what an average item costs to describe
    C: float = 1.0

    # ---- what it predicts ----------------------------------------------------------------------------------------
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
            A head of the same settings that has ``outputs_``.
        """
        return self._with_outputs(self.outputs_of(labels))

    def outputs_of(self, labels: Labels) -> Outputs:
        """Return what the scores mean, and what is learned from labels before training.

        Parameters
        ----------
        labels : Labels
            Targets of all training rows as the user gave them, and their meaning.

        Returns
        -------
        Outputs
            One of the classes of `harmonium.heads.outputs`.
        """
        raise NotImplementedError

    def other_scales(self, targets: Targets) -> list[Self]:
        """Return copies that learn targets on other scales, to be tried on held-out rows.

        Parameters
        ----------
        targets : Targets
            Targets of all training rows, as the head takes them.

        Returns
        -------
        list of Head
            None, unless the head says otherwise.
        """
        return []

    @property
    def n_outputs_(self) -> int:
        """Number of scores of a row."""
        return self.outputs_.n_scores

    def constants(self) -> dict[str, np.ndarray]:
        """Return the fitted arrays that a file has to keep.

        Returns
        -------
        dict of str to ndarray
            Arrays by name; "factors" is always among them.
        """
        found = self.outputs_.constants()
        for part in self.input_parts_:
            found |= part.constants()
        return found

    def restored(self, spec: TargetSpec, constants: Constants) -> Self:
        """Return a copy of the head as `constants` described it.

        Parameters
        ----------
        spec : TargetSpec
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
            If the constants are missing, not finite, or do not fit the targets.
        """
        outputs = self.restored_outputs(spec, constants).with_factors(constants["factors"])
        return self._with_outputs(outputs).updated(input_parts_=restored_parts(constants, outputs.n_scores))

    def restored_outputs(self, spec: TargetSpec, constants: Constants) -> Outputs:
        """Return outputs as their constants described them, before calibration.

        Parameters
        ----------
        spec : TargetSpec
            Kind, classes and columns of the targets.
        constants : mapping of str to ndarray
            What `constants` returned.

        Returns
        -------
        Outputs
            What `outputs_of` returned.
        """
        raise NotImplementedError

    def _with_outputs(self, outputs: Outputs) -> Self:
        """Return a copy that knows its outputs, and what follows from them and the settings."""
        return self.with_fitted(outputs_=outputs)

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
        return self.outputs_.encoded(labels.targets)

    # ---- what it adds to the model -------------------------------------------------------------------------------
    @property
    def added_views(self) -> dict[str, AddedView]:
        """Views of the targets that the head adds to the model, by name."""
        return {}

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
    def may_refit(self, targets: Targets) -> bool:
        """Return whether the head may be solved again after training.

        Held-out rows say then whether that is better.

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

    @property
    def linear(self) -> LinearModels:
        """Linear models of the targets, of which a part of the scores may be made."""
        return LinearModels()

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
            Sums of gradients by parameter. The gradient by the head's extra parameters is added to them in place.
        parameters : dict of str to ndarray
            All parameters of the model.
        layer : HiddenLayer
            The hidden layer at its extra parameters.
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

    @property
    def is_solved(self) -> bool:
        """Whether the parameters are solved for between epochs, not moved by gradients."""
        return False

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
            The head's extra parameters.
        dual : object
            State from which the next call can continue.
        """
        raise NotImplementedError

    # ---- predicting ----------------------------------------------------------------------------------------------
    @property
    def readout(self) -> Readout:
        """Scores as a function of the hidden units."""
        raise NotImplementedError

    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Return the scores of the rows of a batch: those of the units and all parts.

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
        # in double precision rounding does not depend on where in the batch a row stands
        natural = energy.hidden_natural(parameters, self.readout.seen(batch)).astype(np.float64)
        scores = self.readout.scores(energy, parameters, natural)
        return sum((part.scores(energy.families, batch) for part in self.input_parts_), scores)

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
