"""Perfect sampling: exact draws of a model, not the end of a chain that may or may not have converged.

With Gaussian units summed out, binary views are a Boltzmann machine: log p(x) = θ·x + s²/2 ‖λ + Wᵀx‖² + const, with
couplings s² WWᵀ. With Bernoulli units, views and units together are one, with couplings W. Coupling from the past
(`kernels/sampling/coupling_from_the_past.py`) draws from it exactly, unless couplings are so strong that chains do not
meet.
"""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.exceptions import IncompatiblePartsError
from harmonium.kernels.runtime.threads import block_bounds, block_count, run_blocks
from harmonium.kernels.sampling.coupling_from_the_past import couple_from_the_past

# samples of a block, which one thread draws: few, as some take a thousand times as long as others
_BLOCK = 4


class ChainsApartError(RuntimeError):
    """Coupled chains that have not met within the sweeps that were allowed."""


def perfect_sample(
    energy: Energy, parameters: Parameters, n_samples: int, rng: np.random.Generator, max_sweeps: int = 2**14
) -> tuple[Batch, np.ndarray]:
    """Draw all views exactly and independently, as rows of typical size, whose weight is 1.

    Parameters
    ----------
    energy : Energy
        Structure of the model.
    parameters : dict of str to ndarray
        Parameters of the model.
    n_samples : int
        Number of items to draw.
    rng : numpy.random.Generator
        Source of randomness.
    max_sweeps : int, default=2**14
        Largest number of sweeps that coupled chains may take to meet; a convention.

    Returns
    -------
    batch : Batch
        The items.
    sweeps : ndarray of int of shape (n_samples,)
        How many sweeps ago the chains of each item had to start, a power of two.

    Raises
    ------
    IncompatiblePartsError
        If a family or the hidden layer does not allow it.
    ChainsApartError
        If some chains have not met after ``max_sweeps``.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> from harmonium.hidden import GaussianUnits
    >>> energy = Energy({"x": Bernoulli().restore(2, {})}, GaussianUnits().bind(1))
    >>> parameters = {"hidden.bias": np.zeros(1), "x.weights": np.ones((2, 1)), "x.bias": np.full(2, -1.0)}
    >>> batch, sweeps = perfect_sample(energy, parameters, 10_000, np.random.default_rng(0))
    >>> both = batch.views["x"].statistic.all(axis=1).mean()  # p(1, 1) = 1 / (2 + 2 / √e), as θ·x = -2 meets 2²/2 = 2
    >>> bool(abs(both - 1 / (2 + 2 * np.exp(-0.5))) < 0.02)
    True
    """
    bias, couplings = boltzmann_machine(energy, parameters)
    keys = rng.integers(2**64, size=n_samples, dtype=np.uint64)
    states = np.empty((n_samples, len(bias)), dtype=np.bool_)
    sweeps = np.empty(n_samples, dtype=np.int64)
    n_blocks = block_count(n_samples, _BLOCK)

    def task(block: int) -> None:
        part = slice(*block_bounds(n_samples, n_blocks, block))
        couple_from_the_past(bias, couplings, keys[part], max_sweeps, states[part], sweeps[part])
        if (sweeps[part] == 0).any():
            raise ChainsApartError(
                f"Perfect sampling needs chains that meet within {max_sweeps} sweeps; those of this model did not, as "
                "its couplings are strong; raise max_sweeps, or draw with sample()."
            )

    run_blocks(task, n_blocks)
    views, first = {}, 0
    for name, family in energy.families.items():
        values = states[:, first : first + family.n_features_]
        sizes = family.length.typical(n_samples)
        views[name] = ViewBatch(values.astype(parameters[weights_of(name)].dtype), sizes)
        first += family.n_features_
    return Batch(views, n_samples), sweeps


def boltzmann_machine(energy: Energy, parameters: Parameters) -> tuple[np.ndarray, np.ndarray]:
    """Return bias and couplings, in float64, of the Boltzmann machine that the model is; refuse models that are none.

    p(x) ∝ exp(bias·x + xᵀ couplings x / 2) for x in {0, 1}ⁿ: the features of all views in order, followed by the units
    where these are not summed out.
    """
    for name, family in energy.families.items():
        support = family.support
        binary = support.integer and (support.lower, support.upper) == (0, 1)
        if not binary or family.codec.n_sites < family.n_features_:
            raise IncompatiblePartsError(
                f"Perfect sampling needs Bernoulli views; {name!r} is {type(family).__name__}; draw with sample()."
            )
    weights = np.concatenate([parameters[weights_of(name)] for name in energy.families]).astype(np.float64)
    theta = np.concatenate([parameters[bias_of(name)] for name in energy.families]).astype(np.float64)
    hidden_bias = parameters[HIDDEN_BIAS].astype(np.float64)
    layer = energy.layer(parameters)
    if layer.linear_mean:
        return _without_units(weights, theta, hidden_bias, layer.mean(np.eye(layer.n_units_)))
    support = layer.support
    if not support.integer or (support.lower, support.upper) != (0, 1):
        raise IncompatiblePartsError(
            "Perfect sampling needs normal or binary units, such as GaussianUnits or BernoulliUnits; got "
            f"{type(layer).__name__}; draw with sample()."
        )
    # the base measure of a binary unit is a part of its bias
    ends = layer.log_base(np.stack([np.zeros_like(hidden_bias), np.ones_like(hidden_bias)]))
    return np.concatenate([theta, hidden_bias + ends[1] - ends[0]]), _bipartite(weights)


def _without_units(
    weights: np.ndarray, view_bias: np.ndarray, bias: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return bias and couplings of binary features, with normal units of some covariance summed out."""
    spread = weights @ covariance
    couplings = spread @ weights.T
    # as x² = x, the diagonal is a part of the bias
    features = view_bias + spread @ bias + 0.5 * np.diag(couplings)
    np.fill_diagonal(couplings, 0)
    return features, couplings


def _bipartite(weights: np.ndarray) -> np.ndarray:
    """Return couplings of features and units together."""
    n_features, n_units = weights.shape
    return np.block([[np.zeros((n_features, n_features)), weights], [weights.T, np.zeros((n_units, n_units))]])
