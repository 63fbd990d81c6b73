"""Capabilities that a family carries: codec, domain, extra parameters, length, scale."""
