"""Scales of features: each column on its own, or all columns of a view on one."""

from __future__ import annotations

import numpy as np

from harmonium.families.base import Family


def scales_of(variance: np.ndarray, mean: np.ndarray, is_sparse: bool) -> np.ndarray:
    """Return the standard deviation of each column, and 1 for columns that never vary."""
    scale = np.sqrt(variance)
    # a column whose spread is rounding error relative to its mean counts as constant; the rounding errors of sparse
    # columns are larger, as they are not centred before squares are summed
    rounding = 1e-6 if is_sparse else 1e-10
    return np.where(scale > rounding * np.maximum(np.abs(mean), 1e-30), scale, 1.0)


def view_scale(scale: np.ndarray) -> np.ndarray:
    """Return one scale for all columns, the root of their mean variance."""
    varying = scale[scale != 1]  # 1 stands for a column that never varies, too
    return np.full_like(scale, np.sqrt(np.mean(np.square(varying))) if len(varying) else 1.0)


def with_view_scale(family: Family) -> Family:
    """Return a fitted family whose columns are divided by one number.

    It is the family itself unless its setting ``scale`` leaves that open. Variances are learned up to those of the
    data, which must be 1, so a family that learns them stays as it is, too.
    """
    learns = any(lower < upper for lower, upper in family.extra_parameters.bounds.values())
    if family.get_params(deep=False).get("scale") != "auto" or learns:
        return family
    constants = family.constants()
    return family.restore(family.n_features_, constants | {"scale": view_scale(constants["scale"])})


def scale_factors(before: Family, after: Family) -> np.ndarray:
    """Return what the statistics of a family are multiplied by if the scale of its features is another."""
    factors: np.ndarray = before.codec.data_scale / after.codec.data_scale
    return factors
