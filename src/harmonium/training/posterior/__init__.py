"""Posterior sampling: chains, draws, priors, and the drivers that move chains."""
