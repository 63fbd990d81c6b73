"""Inference: mean field, missing sites, Gibbs, exact, annealing, naive Monte Carlo, pseudo-likelihood, modes, signs."""
