"""Inference: mean field, block Gibbs, exact enumeration, annealed importance sampling, pseudo-likelihood, modes."""
