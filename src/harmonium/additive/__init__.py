"""Generalised additive models: sums of functions of single columns, boosted on what given scores leave."""
