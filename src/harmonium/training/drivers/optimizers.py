"""Optimizers: momentum SGD and Adam, which move parameters along a gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, record
from harmonium.core.parts import Part
from harmonium.core.validation import Flag, Number
from harmonium.kernels.optim.lazy_adam import Moments, advance_table, flush, initial_table, lazy_adam_update
from harmonium.kernels.optim.updates import AdamStep, adam_update, momentum_update, sgd_update, shared_adam_update
from harmonium.objectives.statistics import Statistics
from harmonium.training.state import OptimizerState

# Steps that rows without a gradient wait for at most: a convention, not much more than the memory of Adam's first
# moment, 1 / (1 - 0.9). A pass over all rows is then shared by as many steps.
_LONGEST_WAIT = 16


@dataclass(frozen=True)
class Step:
    """One step of an optimizer: its size, and what is special about some of the parameters.

    Parameters
    ----------
    rate : float
        Step size, for gradients averaged over the rows.
    decay : float, default=0.0
        Weights shrink by ``rate * decay``; biases do not.
    scale : mapping of str to float, optional
        Share of the rate that a parameter takes, where it is not all of it. Such parameters shrink as much as all
        others, so that what they can add up to does not depend on how many or how large the values of a view are.
    centres : mapping of str to ndarray, optional
        Means of views, by the name of their weights. Such weights move by the gradient of a model whose view is centred
        there.
    active_rows : mapping of str to ndarray of bool, optional
        Rows of weights outside of which the gradient is zero, by the name of the weights. An optimizer may leave the
        other rows of these weights as they are until `Optimizer.flush` is called; it need not.
    """

    rate: float
    decay: float = 0.0
    scale: Mapping[str, float] = field(default_factory=dict)
    centres: Mapping[str, np.ndarray] = field(default_factory=dict)
    active_rows: Mapping[str, np.ndarray] = field(default_factory=dict)

    def rate_of(self, name: str) -> float:
        """Return the step size of one parameter."""
        return self.rate * self.scale.get(name, 1.0)

    def decay_of(self, name: str) -> float:
        """Return by what share a parameter shrinks: weights do, others do not."""
        return self.rate * self.decay if record(name).is_weights else 0.0


class Optimizer(Part):
    """Base of all optimizers: how a mean gradient moves parameters, in place.

    A subclass defines `start` and `update`. Its state is kept by whoever calls it.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.training import Momentum
    >>> from harmonium.objectives.statistics import Statistics
    >>> from harmonium.training.drivers.optimizers import Step
    >>> parameters = {"hidden.bias": np.array([1.0], dtype=np.float32)}
    >>> statistics = Statistics({"hidden.bias": np.array([4.0], dtype=np.float32)}, count=2.0)
    >>> optimizer = Momentum(momentum=0.0)
    >>> optimizer.update(parameters, statistics, optimizer.start(parameters), Step(rate=0.25))
    >>> parameters["hidden.bias"].tolist()  # a mean gradient of 4 / 2
    [0.5]
    """

    role = "optimizer"

    def start(self, parameters: Parameters) -> OptimizerState:
        """Return the memory of the optimizer, zero at first.

        Parameters
        ----------
        parameters : dict of str to ndarray
            All parameters of the model.

        Returns
        -------
        OptimizerState
            Arrays by what they remember and by parameter, before the first step.
        """
        raise NotImplementedError

    def update(self, parameters: Parameters, statistics: Statistics, state: OptimizerState, step: Step) -> None:
        """Move the parameters by one step, in place.

        Parameters
        ----------
        parameters : dict of str to ndarray
            The parameters that gradients move, in float32.
        statistics : Statistics
            Sums of gradients and the number of rows in them. They are used up: the gradient is zero afterwards.
        state : OptimizerState
            What `start` returned; changed in place. It counts the steps.
        step : Step
            Step size and decay, and what is special about some of the parameters.
        """
        raise NotImplementedError

    def flush(self, parameters: Parameters, state: OptimizerState) -> None:
        """Do what `update` has left for later.

        Parameters
        ----------
        parameters : dict of str to ndarray
            The parameters that were given to `update`.
        state : OptimizerState
            What `start` returned; changed in place.
        """

    def weighed(self, state: OptimizerState, weight: float) -> OptimizerState:
        """Return a memory times its weight.

        It is to be flushed before, and loses what only lazy updates need.

        Parameters
        ----------
        state : OptimizerState
            The memory of an optimizer that began with the same one as others, and moved a copy of the parameters.
        weight : float
            How much it counts. Those of all add up to 1, and the memories to the one to go on with.

        Returns
        -------
        OptimizerState
            What is to be added up.
        """
        kinds = self.start({HIDDEN_BIAS: np.zeros(1, dtype=np.float32)}).arrays
        arrays = {kind: {name: weight * value for name, value in state.arrays[kind].items()} for kind in kinds}
        return OptimizerState(arrays, state.n_updates)


def _zeros(parameters: Parameters) -> dict[str, np.ndarray]:
    """Return arrays of zeros of the same shapes."""
    return {name: np.zeros_like(value) for name, value in parameters.items()}


def take_off_centres(statistics: Statistics, centres: Mapping[str, np.ndarray]) -> None:
    """Turn gradients of weights into those of centred views, in place: φ(x) - centre takes the place of φ(x)."""
    for name, centre in centres.items():
        statistics.gradient[name] -= np.outer(centre, statistics.gradient[HIDDEN_BIAS])


class Momentum(Optimizer):
    """Stochastic gradient descent with momentum.

    Parameters
    ----------
    momentum : float, default=0.9
        Share of the last step that is kept; 0 is plain gradient descent.

    Examples
    --------
    >>> Momentum(momentum=0.5)
    Momentum(momentum=0.5)
    """

    settings = {"momentum": Number(inclusive=True, below=1.0, remedy="0.9 is usual")}

    def __init__(self, momentum: float = 0.9) -> None:
        self.momentum = momentum

    def start(self, parameters: Parameters) -> OptimizerState:
        """Return velocities of zero; nothing if there is no momentum."""
        return OptimizerState({"velocity": _zeros(parameters)} if self.momentum else {})

    def update(self, parameters: Parameters, statistics: Statistics, state: OptimizerState, step: Step) -> None:
        """Update the velocities, then the parameters."""
        state.n_updates += 1
        take_off_centres(statistics, step.centres)
        for name, value in parameters.items():
            scaled, gradient = step.rate_of(name) / statistics.count, statistics.gradient[name]
            if self.momentum:
                velocity = state.arrays["velocity"][name]
                momentum_update(value, gradient, velocity, scaled, self.momentum, step.decay_of(name))
            else:
                sgd_update(value, gradient, scaled, step.decay_of(name))


class Adam(Optimizer):
    """Adam with decoupled weight decay.

    Parameters
    ----------
    beta1 : float, default=0.9
        Memory of the first moment.
    beta2 : float, default=0.999
        Memory of the second moment.
    epsilon : float, default=1e-8
        Added to the root of the second moment.
    shared : bool, default=False
        Whether units share their second moment, that of the unit with the largest gradient. Then units with small
        gradients take small steps; if each weight has its own, all take steps of the same size, and noise gives every
        unit something to do.

    Notes
    -----
    Weights of features that are neither in a batch nor in what was drawn have a gradient of zero. They wait until they
    are, or for 16 steps, and then catch up with what their moments and the decay would have done: the same steps, taken
    later, but for ``epsilon``, which is taken to fade as the second moment does. Until then, hidden units and draws are
    computed with the weights that wait.

    References
    ----------
    Kingma & Ba (2015), Adam: a method for stochastic optimization; Loshchilov & Hutter (2019), Decoupled weight decay
    regularization.

    Examples
    --------
    >>> Adam(shared=True)
    Adam(shared=True)
    """

    settings = {
        "beta1": Number(inclusive=True, below=1.0, remedy="0.9 is usual"),
        "beta2": Number(inclusive=True, below=1.0, remedy="0.999 is usual"),
        "epsilon": Number(remedy="1e-8 is usual"),
        "shared": Flag(),
    }

    def __init__(self, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, shared: bool = False) -> None:
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.shared = shared

    def start(self, parameters: Parameters) -> OptimizerState:
        """Return first and second moments of zero."""
        second = _zeros(parameters)
        if self.shared:
            for name, value in parameters.items():
                axis = record(name).unit_axis
                if axis is not None:
                    second[name] = np.zeros_like(value.max(axis=axis, keepdims=True))
        return OptimizerState({"first": _zeros(parameters), "second": second})

    def update(self, parameters: Parameters, statistics: Statistics, state: OptimizerState, step: Step) -> None:
        """Update the moments, then the parameters.

        Rows that are not active are updated lazily, unless units share their moments.
        """
        state.n_updates += 1
        centres, by_bias = step.centres, statistics.gradient[HIDDEN_BIAS].copy()
        if not self.shared:
            take_off_centres(statistics, centres)
        for name, value in parameters.items():
            gradient, constants = statistics.gradient[name], self._constants(name, statistics.count, state, step)
            if name in step.active_rows and not self.shared and name not in centres and self.beta2:
                self._update_rows(name, value, gradient, step.active_rows[name], state, constants)
                continue
            self._flush(name, value, state)
            axis = record(name).unit_axis if self.shared else None
            centre = (centres[name], by_bias) if name in centres else None
            update = adam_update if axis is None else partial(shared_adam_update, axis=axis, centre=centre)
            update(value, gradient, state.arrays["first"][name], state.arrays["second"][name], constants)

    def _constants(self, name: str, count: float, state: OptimizerState, step: Step) -> AdamStep:
        """Return the numbers of the step of one parameter, with corrections for moments that began at zero."""
        correction = float(np.sqrt(1 - self.beta2**state.n_updates))
        rate = step.rate_of(name) * correction / (1 - self.beta1**state.n_updates)
        return AdamStep(1.0 / count, rate, (self.beta1, self.beta2), self.epsilon * correction, step.decay_of(name))

    def flush(self, parameters: Parameters, state: OptimizerState) -> None:
        """Let all rows that wait catch up."""
        for name, value in parameters.items():
            self._flush(name, value, state)

    def _update_rows(
        self,
        name: str,
        value: np.ndarray,
        gradient: np.ndarray,
        active_rows: np.ndarray,
        state: OptimizerState,
        constants: AdamStep,
    ) -> None:
        """Move some rows; the others wait, but not for too long."""
        tables, since = state.arrays.setdefault("waiting", {}), state.arrays.setdefault("since", {})
        table = tables.setdefault(name, initial_table())
        since.setdefault(name, np.zeros(len(value), dtype=np.int32))
        lazy_adam_update(value, gradient, self._moments(name, state), active_rows, table, constants)
        tables[name] = advance_table(table, constants.step, constants.betas, constants.decay)
        if len(tables[name]) > _LONGEST_WAIT:
            self._flush(name, value, state)

    def _flush(self, name: str, value: np.ndarray, state: OptimizerState) -> None:
        """Let the rows of one array catch up, if any wait."""
        table = state.arrays.get("waiting", {}).get(name)
        if table is not None and len(table) > 1:
            flush(value, self._moments(name, state), table, (self.beta1, self.beta2), self.epsilon)
            state.arrays["waiting"][name] = initial_table()

    @staticmethod
    def _moments(name: str, state: OptimizerState) -> Moments:
        return Moments(*(state.arrays[kind][name] for kind in ("first", "second", "since")))
