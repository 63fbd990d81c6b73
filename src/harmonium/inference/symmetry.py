"""The sign freedom of binary and binomial units, and the canonical choice (eq. 8-9 of Gehler et al. 2006)."""

from __future__ import annotations

import numpy as np

from harmonium.energy import Energy
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS, HIDDEN_BIAS, Parameters, bias_of, copy_parameters, weights_of


def canonical_signs(
    energy: Energy, parameters: Parameters, reference: dict[str, np.ndarray]
) -> tuple[Parameters, np.ndarray]:
    """Parameters of the same p(x) in which every unit is aligned with the mean item: w_j·x̄ > 0.

    As log(1 + e^z) = z + log(1 + e^-z), replacing a unit's h by M - h (its weights and bias by their negatives, and
    θ by θ + M w_j) changes nothing about p(x) but a constant factor of Z. Returns the new parameters and the units that
    were turned over.
    """
    if not energy.hidden.bounded:
        raise ValueError(
            f"Signs are free for BernoulliUnits and BinomialUnits; got {type(energy.hidden).__name__}, "
            "whose sign can be chosen by negating a column of every view's weights."
        )
    result = copy_parameters(parameters)
    aligned = sum(reference[name] @ parameters[weights_of(name)] for name in energy.families)
    turned = np.asarray(aligned) < 0
    bias = parameters[HIDDEN_BIAS]
    result[HIDDEN_BIAS] = np.where(turned, energy.layer(parameters).turned_bias(bias), bias)
    for name in energy.families:
        weights = result[weights_of(name)]
        result[bias_of(name)] += energy.hidden.support.upper * weights[:, turned].sum(axis=1)
        weights[:, turned] *= -1
    if HEAD_WEIGHTS in result:  # scores stay the same too
        result[HEAD_BIAS] += energy.hidden.support.upper * result[HEAD_WEIGHTS][turned].sum(axis=0)
        result[HEAD_WEIGHTS][turned] *= -1
    return result, turned
