"""Rows held out to choose settings by."""

from __future__ import annotations

import warnings

import numpy as np

from harmonium.core.targets import Targets
from harmonium.training.defaults import MANY_ROWS

# Labelled rows below which there are three folds: a convention. From here on a third one changed no error of thirds of
# training rows (hotels, wines, Reuters), and takes a quarter of the time.
_FEW_ROWS = 1500


def number_of_folds(n_rows: int) -> int:
    """Return in how many ways rows are held out, given how many there are."""
    if n_rows >= MANY_ROWS:
        return 1
    return 2 if n_rows >= _FEW_ROWS else max(2, min(3, n_rows))


def held_out_folds(targets: Targets, fraction: float, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (training rows, held-out rows) of each fold.

    Only rows with a target are held out. Classes are held out in proportion, as far as they have rows: of those with a
    few rows some are held out in each fold. If there is one fold, classes with a single row are not held out.
    """
    from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

    labelled = np.flatnonzero(targets.counting)
    seed = int(rng.integers(2**31 - 1))
    codes = targets.column(0)[labelled]
    n_held = max(1, round(fraction * len(labelled)))
    several = number_of_folds(len(labelled)) > 1
    kept = np.arange(0)  # rows that stay in training: a class of one row cannot be on both sides
    by_class = np.issubdtype(codes.dtype, np.integer)
    if by_class:
        _, classes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        if not several:
            # two rows of a class are enough for both sides; the others are held out at random
            kept = np.flatnonzero(sizes[classes] < 2)
        n_classes = int((sizes > 1).sum())
        by_class = several or 2 <= n_classes <= min(n_held, len(labelled) - len(kept) - n_held)
    free = np.setdiff1d(np.arange(len(labelled)), kept)
    if several:
        number = number_of_folds(len(labelled))
        if by_class and sizes.max() >= number:
            splitter = StratifiedKFold(number, shuffle=True, random_state=seed)
        else:
            splitter, by_class = KFold(number, shuffle=True, random_state=seed), False
    else:
        kind = StratifiedShuffleSplit if by_class else ShuffleSplit
        splitter = kind(1, test_size=n_held, random_state=seed)
    everyone = np.arange(len(targets.weight))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # it is spread as far as it goes
        splits = list(splitter.split(np.zeros((len(free), 1)), codes[free] if by_class else None))
    return [(np.setdiff1d(everyone, labelled[free[held]]), np.sort(labelled[free[held]])) for _, held in splits]
