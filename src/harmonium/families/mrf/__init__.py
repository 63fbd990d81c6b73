"""Markov random fields: families whose features are joined by edges, of chains or of any graph."""
