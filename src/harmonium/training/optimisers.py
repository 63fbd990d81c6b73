"""How a gradient moves the parameters: momentum SGD and Adam."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from harmonium.kernels.updates import adam_update, descent_update, momentum_update, shared_adam_update
from harmonium.objectives.statistics import Statistics
from harmonium.params import HIDDEN_BIAS, Parameters, record
from harmonium.parts import Part
from harmonium.validation import Flag, Number

Slots = dict[str, dict[str, np.ndarray]]


class Optimiser(Part):
    """Moves parameters against the mean gradient of a batch, in place."""

    role = "optimiser"

    def start(self, parameters: Parameters) -> Slots:
        """Memory of the optimiser, zero at first."""
        raise NotImplementedError

    def update(
        self,
        parameters: Parameters,
        statistics: Statistics,
        slots: Slots,
        rate: float,
        decay: float,
        step: int,
        shares: Mapping[str, float] = MappingProxyType({}),
        centres: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """One step; ``decay`` shrinks weights (not biases) by ``rate * decay`` and ``step`` counts from 1.

        Parameters named in ``shares`` take only that share of the rate; they shrink as much as all others, so that
        what they can add up to does not depend on how many or how large the values of a view are. Weights named in
        ``centres`` move by the gradient of a model whose view is centred there.

        The statistics are used up: their gradient is zero afterwards.
        """
        raise NotImplementedError


def _zeros(parameters: Parameters) -> dict[str, np.ndarray]:
    return {name: np.zeros_like(value) for name, value in parameters.items()}


def _decay(name: str, rate: float, decay: float) -> float:
    return rate * decay if record(name).is_weights else 0.0


def take_off_centres(statistics: Statistics, centres: Mapping[str, np.ndarray]) -> None:
    """Turn gradients of weights into those of centred views: φ(x) - centre in the place of φ(x)."""
    for name, centre in centres.items():
        statistics.gradient[name] -= np.outer(centre, statistics.gradient[HIDDEN_BIAS])


class Momentum(Optimiser):
    """Stochastic gradient descent with momentum.

    Parameters
    ----------
    momentum : float, default=0.9
        Share of the last step that is kept; 0 is plain gradient descent.
    """

    settings = {"momentum": Number(inclusive=True, below=1.0, remedy="0.9 is usual")}

    def __init__(self, momentum: float = 0.9) -> None:
        self.momentum = momentum

    def start(self, parameters: Parameters) -> Slots:
        """Velocities, unless there is no momentum."""
        return {"velocity": _zeros(parameters)} if self.momentum else {}

    def update(
        self,
        parameters: Parameters,
        statistics: Statistics,
        slots: Slots,
        rate: float,
        decay: float,
        step: int,
        shares: Mapping[str, float] = MappingProxyType({}),
        centres: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """Velocity first, then the parameters."""
        take_off_centres(statistics, centres)
        for name, value in parameters.items():
            own = rate * shares.get(name, 1.0)
            scaled = own / statistics.count
            gradient, shrink = statistics.gradient[name], _decay(name, rate, decay)
            if self.momentum:
                momentum_update(value, gradient, slots["velocity"][name], scaled, self.momentum, shrink)
            else:
                descent_update(value, gradient, scaled, shrink)


class Adam(Optimiser):
    """Adam (Kingma & Ba 2015) with decoupled weight decay.

    Parameters
    ----------
    beta1, beta2 : float, default=0.9, 0.999
        Memory of the first and second moments.
    epsilon : float, default=1e-8
        Added to the root of the second moment.
    shared : bool, default=False
        Units share their second moment, that of the one with the largest gradient. Then units that gradients hardly
        reach move as little as they should; with one for each weight, all move alike and noise finds work for them.
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

    def start(self, parameters: Parameters) -> Slots:
        """First and second moments."""
        second = _zeros(parameters)
        if self.shared:
            for name, value in parameters.items():
                axis = record(name).unit_axis
                if axis is not None:
                    second[name] = np.zeros_like(value.max(axis=axis, keepdims=True))
        return {"first": _zeros(parameters), "second": second}

    def update(
        self,
        parameters: Parameters,
        statistics: Statistics,
        slots: Slots,
        rate: float,
        decay: float,
        step: int,
        shares: Mapping[str, float] = MappingProxyType({}),
        centres: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """Moments first, then the parameters."""
        correction = float(np.sqrt(1 - self.beta2**step))
        if not self.shared:
            take_off_centres(statistics, centres)
        by_bias = statistics.gradient[HIDDEN_BIAS].copy()
        for name, value in parameters.items():
            own = rate * shares.get(name, 1.0)
            axis = record(name).unit_axis if self.shared else None
            centre = (centres[name], by_bias) if name in centres else None
            update = adam_update if axis is None else partial(shared_adam_update, axis=axis, centre=centre)
            update(
                value,
                statistics.gradient[name],
                slots["first"][name],
                slots["second"][name],
                scale=1.0 / statistics.count,
                step=own * correction / (1 - self.beta1**step),
                betas=(self.beta1, self.beta2),
                epsilon=self.epsilon * correction,
                decay=_decay(name, rate, decay),
            )
