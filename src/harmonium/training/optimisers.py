"""How a gradient moves the parameters: momentum SGD and Adam."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from harmonium.kernels.updates import adam_update, descent_update, momentum_update
from harmonium.objectives import Statistics
from harmonium.params import Parameters
from harmonium.parts import Part

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
    ) -> None:
        """One step; ``decay`` shrinks weights (not biases) by ``rate * decay`` and ``step`` counts from 1.

        Parameters named in ``shares`` take only that share of the rate; they shrink as much as all others, so that
        what they can add up to does not depend on how many or how large the values of a view are.

        The statistics are used up: their gradient is zero afterwards.
        """
        raise NotImplementedError


def _zeros(parameters: Parameters) -> dict[str, np.ndarray]:
    return {name: np.zeros_like(value) for name, value in parameters.items()}


def _decay(name: str, rate: float, decay: float) -> float:
    return rate * decay if name.endswith(".weights") else 0.0


class Momentum(Optimiser):
    """Stochastic gradient descent with momentum.

    Parameters
    ----------
    momentum : float, default=0.9
        Share of the last step that is kept; 0 is plain gradient descent.
    """

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
    ) -> None:
        """Velocity first, then the parameters."""
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
    """

    def __init__(self, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8) -> None:
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def start(self, parameters: Parameters) -> Slots:
        """First and second moments."""
        return {"first": _zeros(parameters), "second": _zeros(parameters)}

    def update(
        self,
        parameters: Parameters,
        statistics: Statistics,
        slots: Slots,
        rate: float,
        decay: float,
        step: int,
        shares: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Moments first, then the parameters."""
        correction = float(np.sqrt(1 - self.beta2**step))
        for name, value in parameters.items():
            own = rate * shares.get(name, 1.0)
            adam_update(
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
