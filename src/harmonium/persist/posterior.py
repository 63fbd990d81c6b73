"""Posterior draws in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from harmonium.core.parameters import Parameters
from harmonium.families import Family
from harmonium.training.posterior.draws import MarkovChain, Posterior
from harmonium.training.posterior.normals import JointNormal, Normal

_DRAWS, _PRIOR = "draws/", "prior/"


def posterior_tensors(posterior: Posterior) -> Parameters:
    """Return the arrays that a file keeps of posterior draws."""
    arrays = {f"{_DRAWS}{name}": posterior.array(name) for name in posterior.chains[0].draws[0]}
    for view, prior in posterior.prior.items():
        arrays |= {f"{_PRIOR}{view}/{entry.name}": getattr(prior, entry.name) for entry in fields(prior)}
    return arrays


def restored_posterior(
    tensors: Mapping[str, np.ndarray],
    parameters: Parameters,
    families: Mapping[str, Family],
    target: str,
    rng: np.random.Generator,
) -> Posterior:
    """Return the posterior from its tensors; chains stand at their last draws and warm up before they continue."""
    draws = {name.removeprefix(_DRAWS): value for name, value in tensors.items() if name.startswith(_DRAWS)}
    if set(draws) != set(parameters):
        raise ValueError("posterior draws must be of the model's parameters")
    n_chains, n_draws = next(iter(draws.values())).shape[:2]
    for name, value in draws.items():
        if value.shape != (n_chains, n_draws, *parameters[name].shape) or not np.isfinite(value).all():
            raise ValueError(f"posterior draws of {name} must be finite numbers of {parameters[name].shape}")
    prior: dict[str, Normal] = {}
    for view, family in families.items():
        mean, variance = (tensors.get(f"{_PRIOR}{view}/{part}") for part in ("mean", "variance"))
        if mean is None or variance is None or not mean.shape == variance.shape == (family.n_features_,):
            raise ValueError(f"the prior of view {view!r} must have a mean and a variance for each feature")
        covariance = tensors.get(f"{_PRIOR}{view}/covariance")
        if covariance is None:
            prior[view] = Normal(mean, variance)
        elif covariance.shape == (family.n_features_,) * 2 and np.isfinite(covariance).all():
            prior[view] = JointNormal(mean, variance, covariance)
        else:
            raise ValueError(f"the prior of view {view!r} must have a finite covariance for each pair of features")
    chains = []
    for number, stream in enumerate(rng.spawn(n_chains)):
        kept: list[Parameters] = [{name: value[number, i] for name, value in draws.items()} for i in range(n_draws)]
        chains.append(MarkovChain({name: value.copy() for name, value in kept[-1].items()}, stream, draws=kept))
    return Posterior(chains, prior, target=target)
