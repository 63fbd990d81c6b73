"""Data in memory and the same data in shards, for the tests of shards."""

import numpy as np
import scipy.sparse

from harmonium import Shards

CUTS = ((0, 70), (70, 75), (75, 200), (200, 240))


def two_views(n_rows=240, seed=11):
    """Words (sparse zeros and ones) and colours (numbers, of which one row is missing) that know the same classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n_rows)
    words = (rng.random((n_rows, 18)) < np.where(np.arange(18) // 6 == y[:, None], 0.5, 0.1)).astype(np.float32)
    colours = (np.eye(3)[y] + rng.normal(size=(n_rows, 3))).astype(np.float32)
    colours[72] = np.nan
    return {"words": scipy.sparse.csr_array(words), "colours": colours}, y


def cut(views, cuts=CUTS):
    """Blocks of rows."""
    if isinstance(views, dict):
        return [{name: view[first:last] for name, view in views.items()} for first, last in cuts]
    return [views[first:last] for first, last in cuts]


def in_shards(views, y=None, cuts=CUTS):
    """The same rows as `Shards`."""
    return Shards(cut(views, cuts), None if y is None else cut(y, cuts))
