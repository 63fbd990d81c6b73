"""Numerics of families: quadrature, poles, states of chains, sparse draws, normal rows with gaps."""
