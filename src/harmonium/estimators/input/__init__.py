"""Input of estimators: X, y, target columns, shards and dask collections, read once and for all."""

from harmonium.estimators.input.known import known_views
from harmonium.estimators.input.read_input import Input, read_input

__all__ = ["Input", "known_views", "read_input"]
