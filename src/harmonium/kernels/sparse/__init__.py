"""Sparse rows, and matrices that may be dense or sparse: products, entries, validation."""
