"""Inference: mean field, Gibbs, perfect, exact, annealing, naive Monte Carlo, pseudo-likelihood, modes, symmetry."""
