"""The map of the items: two coordinates for each, such that items that are alike lie together.

t-SNE embeds at most a few thousand items, the *landmarks*; every other item is placed among the items that are most
like it, and so are new ones. That takes time in proportion to the items.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from harmonium.core.validation import RandomState, Setting, check_fitted, check_settings
from harmonium.kernels.runtime.threads import single_threaded
from harmonium.search import NearestNeighbours, unit_rows

# Landmarks: a convention, for time. t-SNE of 2,000 takes some 4 s.
_LANDMARKS = 2000
# Steps and neighbours of t-SNE: half of, and the same as, what scikit-learn takes.
_STEPS = 500
_PERPLEXITY = 30.0
# fewer items leave t-SNE no neighbours to compare
_FEWEST = 8
# Neighbours that an item is placed among, the distance on the map beyond which they are outliers, and the smallest
# 1 - cosine: conventions. `benchmarks/latent_space.py` compares new items with those that t-SNE has seen.
_NEIGHBOURS, _SCALE, _SMALLEST = 10, 0.05, 1e-6
# Items whose locations are found together: for memory, of which each takes half a kilobyte meanwhile.
_ROWS_AT_ONCE = 10_000
# steps to the location, which moves by less than a thousandth of the map after ten
_ROUNDS = 20


class ItemMap(TransformerMixin, BaseEstimator):
    """Map of items in two dimensions, on which new items can be placed.

    Model folders, their reports and pages, and `harmonium.report.MapDisplay` all draw this map.

    Parameters
    ----------
    random_state : int or RandomState, default=0
        Source of randomness of t-SNE.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_items, 2)
        Locations of the items in float32, in a square of side 2 around zero.

    See Also
    --------
    ModelFolder.locate : Locations of new items on the map of a folder.

    Notes
    -----
    t-SNE embeds up to 2,000 items, evenly spaced among the rows, by the angles between their coordinates; its
    perplexity is 30, or a quarter of the items if these are fewer than 120. Every other item y has ten neighbours,
    weighed by w = (1 - cosine)⁻², and lies where Σ w log(1 + ‖y - y_j‖² / 0.05²) is smallest: a mean without outliers,
    as an item between two clusters belongs to one of them. Items on the map keep their locations, but for those with
    the same coordinates. The numbers are conventions.

    Examples
    --------
    >>> coordinates = np.random.default_rng(0).normal(size=(50, 4))  # model.search_coordinates(X)
    >>> item_map = ItemMap().fit(coordinates)
    >>> item_map.embedding_.shape
    (50, 2)
    >>> np.allclose(item_map.transform(coordinates[:3]), item_map.embedding_[:3], atol=1e-3)
    True
    """

    settings: ClassVar[dict[str, Setting]] = {"random_state": RandomState()}

    def __init__(self, random_state: Any = 0) -> None:
        self.random_state = random_state

    @classmethod
    def restored(cls, coordinates: np.ndarray, embedding: np.ndarray) -> Self:
        """Return the map of items whose locations are known.

        Parameters
        ----------
        coordinates : ndarray of shape (n_items, n_dimensions)
            Coordinates of the items.
        embedding : ndarray of shape (n_items, 2)
            Their locations.

        Returns
        -------
        ItemMap
            The fitted map.
        """
        item_map = cls()
        item_map.embedding_ = embedding
        item_map._neighbours = NearestNeighbours().fit(coordinates)
        return item_map

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Draw the map of some items.

        Parameters
        ----------
        X : array-like of shape (n_items, n_dimensions)
            Coordinates whose directions say how items differ, as `search_coordinates` of a model returns them.
        y : None
            Not used, present as scikit-learn passes it.

        Returns
        -------
        ItemMap
            The object itself.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> np.ndarray:
        """Draw the map of some items, and return their locations.

        Parameters
        ----------
        X : array-like of shape (n_items, n_dimensions)
            Coordinates, as for `fit`.
        y : None
            Not used, present as scikit-learn passes it.

        Returns
        -------
        ndarray of shape (n_items, 2)
            ``embedding_``. `transform` of the same items returns nearly the same locations.
        """
        check_settings(self, self.settings)
        unit = np.asarray(unit_rows(X, "X"))
        landmarks = np.linspace(0, len(unit) - 1, min(len(unit), _LANDMARKS)).astype(int)
        embedding = _embedding(unit[landmarks], self.random_state)
        if len(landmarks) < len(unit):
            embedding = ItemMap.restored(unit[landmarks], embedding).transform(unit)
        self.embedding_, self._neighbours = embedding, NearestNeighbours().fit(unit)
        return embedding

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return where items lie on the map, among those that are most like them.

        Parameters
        ----------
        X : array-like of shape (n_items, n_dimensions)
            Coordinates of items, as for `fit`.

        Returns
        -------
        ndarray of shape (n_items, 2)
            Locations in float32.
        """
        check_fitted(self)
        index = self._neighbours
        rows, cosine = index.query(X, min(_NEIGHBOURS, index.n_items_))
        placed = np.empty((len(rows), 2), dtype=np.float32)
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = slice(first, first + _ROWS_AT_ONCE)
            weight = np.maximum(1 - cosine[some].astype(np.float64), _SMALLEST) ** -2
            placed[some] = _middle(self.embedding_[rows[some]].astype(np.float64), weight)
        return placed

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")


def _embedding(unit: np.ndarray, random_state: Any) -> np.ndarray:
    """Return t-SNE of rows of length 1, or their leading directions where there are too few, in the square."""
    from sklearn.decomposition import PCA  # late, for a quick start
    from sklearn.manifold import TSNE

    n_items, n_dimensions = unit.shape
    if n_items < _FEWEST or n_dimensions < 2:
        flat = PCA(min(2, *unit.shape)).fit_transform(unit) if n_items > 1 else np.zeros((n_items, 1))
        return _framed(np.pad(flat, ((0, 0), (0, 2 - flat.shape[1]))))
    perplexity = min(_PERPLEXITY, n_items / 4)
    reduction = TSNE(2, init="pca", perplexity=perplexity, max_iter=_STEPS, random_state=random_state)
    with single_threaded():
        return _framed(reduction.fit_transform(unit))


def _framed(embedding: np.ndarray) -> np.ndarray:
    """Return an embedding moved and scaled, alike in both directions, into a square of side 2 around zero."""
    centred = embedding - (embedding.max(axis=0) + embedding.min(axis=0)) / 2
    return np.asarray(centred / max(np.abs(centred).max(), 1e-12), dtype=np.float32)


def _middle(points: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the middle of each row's neighbours, of shape (rows, neighbours, 2), without outliers.

    It is the location of a Cauchy distribution, from the best of the neighbours on.
    """

    def distance(middle: np.ndarray) -> np.ndarray:
        return 1 + np.square((points - middle[:, None]) / _SCALE).sum(axis=2)

    costs = [(weight * np.log(distance(middle))).sum(axis=1) for middle in points.swapaxes(0, 1)]
    middle = points[np.arange(len(points)), np.argmin(costs, axis=0)]
    for _ in range(_ROUNDS):
        share = weight / distance(middle)
        middle = np.einsum("ij,ijk->ik", share / share.sum(axis=1, keepdims=True), points)
    return middle
