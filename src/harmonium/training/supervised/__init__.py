"""Fits of models that predict: choices on held-out rows, then training on all rows."""
