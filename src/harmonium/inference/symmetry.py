"""Changes of the hidden units that leave p(x) as it is (signs, order, rotations), and canonical choices among them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from harmonium.core.parameters import (
    HEAD_BIAS,
    HEAD_WEIGHTS,
    HIDDEN,
    HIDDEN_BIAS,
    Parameters,
    bias_of,
    copy_parameters,
    extra_of,
    weights_of,
)
from harmonium.energy import Energy
from harmonium.hidden import HiddenLayer


def canonical_signs(
    energy: Energy, parameters: Parameters, reference: dict[str, np.ndarray]
) -> tuple[Parameters, np.ndarray]:
    """Return parameters of the same p(x) with every unit aligned with the mean item, w_j·x̄ > 0, and the turned units.

    As log(1 + e^z) = z + log(1 + e^-z), replacing a unit's h by M - h (its weights and bias by their negatives, and
    θ by θ + M w_j) changes nothing about p(x) but a constant factor of Z (eq. 8-9 of Gehler et al. 2006).
    """
    if not energy.hidden.support.bounded:
        raise ValueError(
            f"Signs are free for BernoulliUnits and BinomialUnits; got {type(energy.hidden).__name__}, "
            "whose sign can be chosen by negating a column of every view's weights."
        )
    length_normalized = _length_normalized(energy)
    if length_normalized is not None:
        raise ValueError(
            f"Signs are free where all rows weigh alike; view {length_normalized!r} is length-normalised, so what "
            "turning a unit over adds to the bias would differ from row to row; fit the model with "
            "length_normalize=False."
        )
    turned = unaligned(energy, parameters, reference)
    return turn_over(energy, parameters, turned), turned


def unaligned(energy: Energy, parameters: Parameters, reference: dict[str, np.ndarray]) -> np.ndarray:
    """Return which units the mean item lowers: those of w_j·x̄ < 0."""
    aligned = sum(reference[name] @ parameters[weights_of(name)] for name in energy.families)
    return np.asarray(aligned) < 0


def turn_over(energy: Energy, parameters: Parameters, turned: np.ndarray) -> Parameters:
    """Return parameters of the same p(x) with some units counted from their other end: h becomes M - h."""
    result, largest = copy_parameters(parameters), energy.hidden.groups.largest
    bias = parameters[HIDDEN_BIAS]
    result[HIDDEN_BIAS] = np.where(turned, _turned_bias(energy.layer(parameters), bias, turned), bias)
    for name in energy.families:
        weights = result[weights_of(name)]
        result[bias_of(name)] += weights[:, turned] @ largest[turned]
        weights[:, turned] *= -1
    if HEAD_WEIGHTS in result:  # scores stay the same too
        result[HEAD_BIAS] += largest[turned] @ result[HEAD_WEIGHTS][turned]
        result[HEAD_WEIGHTS][turned] *= -1
    return result


def _turned_bias(layer: HiddenLayer, bias: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """Return the bias of units that are counted from their other end: minus it, and what base measures at both differ.

    With the base measure s, it is the b' for which b' h + log s(h) is -b h + log s(M - h) but for a constant.
    """
    largest = np.where(turned, layer.groups.largest, 1).astype(bias.dtype)  # units without a largest value stay
    ends = layer.log_base(np.stack([np.zeros_like(largest), largest]))
    return -bias + 2 * (ends[0] - ends[1]) / largest


def align(energy: Energy, parameters: Parameters, reference: Parameters) -> Parameters:
    """Return parameters of the same p(x) whose weights are nearest to those of ``reference``.

    Gaussian units are rotated (orthogonal Procrustes), bounded ones reordered and, unless rows are length-normalised,
    turned over. The model must not have a head.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> from harmonium.hidden import GaussianUnits
    >>> energy = Energy({"x": Bernoulli().restore(2, {})}, GaussianUnits().bind(2))
    >>> first = {"hidden.bias": np.zeros(2), "x.weights": np.array([[3.0, 0.0], [0.0, 1.0]]), "x.bias": np.zeros(2)}
    >>> second = first | {"x.weights": np.array([[0.0, -3.0], [1.0, 0.0]])}
    >>> align(energy, second, first)["x.weights"].round(6).tolist()
    [[3.0, 0.0], [0.0, 1.0]]
    """
    extra, other = _stacked(energy, parameters), _stacked(energy, reference)
    agreement = extra.T @ other
    if not energy.hidden.support.bounded:
        left, _, right = np.linalg.svd(agreement)
        return _mapped(energy, parameters, left @ right)
    if _length_normalized(energy) is not None:  # units that cannot be turned over must agree as they are
        agreement = np.maximum(agreement, 0)
    largest = energy.hidden.groups.largest  # units of other values cannot change places
    units, places = linear_sum_assignment(np.where(largest[:, None] == largest, -np.abs(agreement), np.inf))
    turned = np.zeros(len(units), dtype=bool)
    turned[units] = agreement[units, places] < 0
    order = np.zeros_like(agreement)
    order[units, places] = 1
    return _mapped(energy, turn_over(energy, parameters, turned), order)


def in_coordinates(energy: Energy, parameters: Parameters, matrix: np.ndarray, shift: np.ndarray) -> Parameters:
    """Return parameters of the same p(x) with units f for which h = matrix @ f + shift.

    The layer must have free coordinates, and a covariance S. With fewer columns than rows, units keep to the plane that
    ``matrix`` spans, so p(x) stays the same only if weights and biases have no part that is orthogonal to it.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> from harmonium.hidden import FactorUnits
    >>> energy = Energy({"x": Bernoulli().restore(1, {})}, FactorUnits().bind(1))
    >>> parameters = {"hidden.bias": np.zeros(1), "x.weights": np.ones((1, 1)), "x.bias": np.zeros(1)}
    >>> parameters["hidden.covariance"] = np.eye(1)
    >>> moved = in_coordinates(energy, parameters, np.array([[2.0]]), np.array([3.0]))
    >>> moved["x.weights"].tolist(), moved["x.bias"].tolist(), moved["hidden.covariance"].tolist()
    ([[2.0]], [3.0], [[0.25]])
    """
    wide = {name: value.astype(np.float64) for name, value in parameters.items()}
    covariance, result = extra_of(HIDDEN, "covariance"), dict(wide)
    precision = np.linalg.inv(wide[covariance])
    result[covariance] = np.linalg.inv(matrix.T @ precision @ matrix)
    result[HIDDEN_BIAS] = matrix.T @ (wide[HIDDEN_BIAS] - precision @ shift)
    for name in energy.families:
        result[weights_of(name)] = wide[weights_of(name)] @ matrix
        result[bias_of(name)] = wide[bias_of(name)] + wide[weights_of(name)] @ shift
    if HEAD_WEIGHTS in wide:
        result[HEAD_WEIGHTS] = matrix.T @ wide[HEAD_WEIGHTS]
        result[HEAD_BIAS] = wide[HEAD_BIAS] + shift @ wide[HEAD_WEIGHTS]
    return {name: np.ascontiguousarray(value, dtype=parameters[name].dtype) for name, value in result.items()}


def is_length_normalized(energy: Energy) -> bool:
    """Return whether there is a view in which rows of different sizes weigh differently."""
    return _length_normalized(energy) is not None


def _length_normalized(energy: Energy) -> str | None:
    """Return the name of a view in which rows of different sizes weigh differently; None if there is none."""
    weighing = (name for name, family in energy.families.items() if family.length.largest_row_weight > 1)
    return next(weighing, None)


def _stacked(energy: Energy, parameters: Parameters) -> np.ndarray:
    return np.concatenate([parameters[weights_of(name)] for name in energy.families]).astype(np.float64)


def _mapped(energy: Energy, parameters: Parameters, matrix: np.ndarray) -> Parameters:
    """Return parameters with the hidden units multiplied by an orthogonal matrix."""
    result = copy_parameters(parameters)
    for name in [HIDDEN_BIAS, *(weights_of(view) for view in energy.families)]:
        result[name] = (parameters[name].astype(np.float64) @ matrix).astype(parameters[name].dtype)
    covariance = extra_of(HIDDEN, "covariance")
    if covariance in parameters:
        turned = matrix.T @ parameters[covariance].astype(np.float64) @ matrix
        result[covariance] = turned.astype(parameters[covariance].dtype)
    return result
