"""The map: two coordinates for each item, such that items that are alike lie together.

t-SNE places at most a few thousand items, the *landmarks*; every other item lies among the landmarks that are most like
it. That takes time in proportion to the items, and places new items on a map that is there.
"""

from __future__ import annotations

import numpy as np

from harmonium.kernels.threads import on_one_thread
from harmonium.search import NearestNeighbours, unit_rows

# Landmarks: a convention, for time. t-SNE of 2,000 takes some 6 s.
_LANDMARKS = 2000
# Landmarks that an item lies among, and how fast their say falls with the distance: conventions.
_AMONG = 5
_SHARPNESS = 20.0
# Steps and neighbours of t-SNE: half of, and the same as, what scikit-learn takes.
_STEPS = 500
_PERPLEXITY = 30.0
# fewer items leave t-SNE no neighbours to compare
_FEWEST = 8


def map_of(coordinates: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return a map of items.

    Parameters
    ----------
    coordinates : ndarray of shape (n_items, n_dimensions)
        Coordinates whose directions say how items differ.
    seed : int, default=0
        Seed of t-SNE.

    Returns
    -------
    ndarray of shape (n_items, 2)
        Places in float32, in a square of side 2 around zero.

    Examples
    --------
    >>> map_of(np.random.default_rng(0).normal(size=(50, 4))).shape
    (50, 2)
    """
    from sklearn.decomposition import PCA  # late, for a quick start
    from sklearn.manifold import TSNE

    unit = unit_rows(coordinates, "coordinates")
    n_items, n_dimensions = unit.shape
    if n_items < _FEWEST or n_dimensions < 2:
        flat = PCA(min(2, *unit.shape)).fit_transform(unit) if n_items > 1 else np.zeros((n_items, 1))
        return _framed(np.pad(flat, ((0, 0), (0, 2 - flat.shape[1]))))
    landmarks = np.linspace(0, n_items - 1, min(n_items, _LANDMARKS)).astype(int)
    perplexity = min(_PERPLEXITY, len(landmarks) / 4)
    reduction = TSNE(2, init="pca", perplexity=perplexity, max_iter=_STEPS, random_state=seed)
    with on_one_thread():
        places = _framed(reduction.fit_transform(unit[landmarks]))
    return places if len(landmarks) == n_items else placed(unit, unit[landmarks], places)


def placed(coordinates: np.ndarray, known: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return where items lie on a map of others.

    Parameters
    ----------
    coordinates : ndarray of shape (n_items, n_dimensions)
        Coordinates of the items.
    known : ndarray of shape (n_known, n_dimensions)
        Coordinates of the items on the map.
    places : ndarray of shape (n_known, 2)
        Their places.

    Returns
    -------
    ndarray of shape (n_items, 2)
        The mean place of the few items on the map that are most alike, the nearest with most say, in float32.

    Examples
    --------
    >>> placed(np.array([[1.0, 0.1]]), np.eye(2), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3).tolist()
    [[0.0, 0.0]]
    """
    rows, similarity = NearestNeighbours().fit(known).query(coordinates, min(_AMONG, len(known)))
    share = np.exp(_SHARPNESS * (similarity - similarity[:, :1]))
    share /= share.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", share, places[rows]).astype(np.float32)


def _framed(places: np.ndarray) -> np.ndarray:
    """Return places moved and scaled, alike in both directions, into a square of side 2 around zero."""
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return np.asarray(places / max(np.abs(places).max(), 1e-12), dtype=np.float32)
