"""Visual words: patches cut at points of interest of images, and counts of the k-means clusters they fall in.

The steps are those of bag-of-features object recognition: images are brought to the same size, points of interest are
found by several detectors, a patch is cut at each point with a size that follows the point's scale, brought to the
same side and intensity-normalised, and the patches are clustered into a vocabulary of visual words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harmonium.features.images.patches import PATCH_SIDE, interest_patches


class VisualWords(TransformerMixin, BaseEstimator):
    """Count the visual words of images, clusters of patches at points of interest.

    Parameters
    ----------
    n_words : int, default=125
        Number of clusters, the size of the vocabulary.
    input : {"patches", "images"}, default="patches"
        What the items are: ready patch arrays of shape (n_patches, patch_side ** 2), or images.
    detectors : sequence of {"harris", "hessian", "entropy"}, default=("harris", "hessian", "entropy")
        Detectors used on images.
    max_points_per_detector : int, default=60
        The largest number of points each detector gives on an image.
    longer_side : int or None, default=200
        Images are brought to this length of their longer side; None leaves them as they are.
    patch_side : int, default=13
        Side of the patches in pixels.
    max_fit_patches : int or None, default=20000
        The vocabulary is learnt from a random sample of at most this many patches; None takes all.
    random_state : int, RandomState or None, default=None
        Seed of the sample and of the clustering.

    Attributes
    ----------
    words_ : ndarray of shape (n_words, patch_side ** 2)
        Centres of the clusters.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> patches = [rng.normal(size=(30, 169)), rng.normal(size=(20, 169))]
    >>> words = VisualWords(n_words=5, random_state=0).fit(patches)
    >>> words.transform(patches).sum(axis=1).tolist()
    [30.0, 20.0]
    """

    def __init__(
        self,
        n_words: int = 125,
        *,
        input: str = "patches",
        detectors: Sequence[str] = ("harris", "hessian", "entropy"),
        max_points_per_detector: int = 60,
        longer_side: int | None = 200,
        patch_side: int = PATCH_SIDE,
        max_fit_patches: int | None = 20000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_words = n_words
        self.input = input
        self.detectors = detectors
        self.max_points_per_detector = max_points_per_detector
        self.longer_side = longer_side
        self.patch_side = patch_side
        self.max_fit_patches = max_fit_patches
        self.random_state = random_state

    def fit(self, X: Iterable[ArrayLike], y: Any = None) -> Self:
        """Learn the vocabulary from images or arrays of patches.

        Parameters
        ----------
        X : iterable of array-like
            Images or patch arrays, as `input` says.
        y : ignored
            Present for pipelines.

        Returns
        -------
        VisualWords
            The fitted transformer.
        """
        self._learn(self._patch_arrays(X))
        return self

    def fit_transform(self, X: Iterable[ArrayLike], y: Any = None) -> sp.csr_array:
        """Learn the vocabulary and count the words of the same items.

        Parameters
        ----------
        X : iterable of array-like
            Images or patch arrays, as `input` says.
        y : ignored
            Present for pipelines.

        Returns
        -------
        csr_array of shape (n_items, n_words)
            Counts as float32.
        """
        items = self._patch_arrays(X)
        self._learn(items)
        return self._count(items)

    def _learn(self, items: list[NDArray[np.float32]]) -> None:
        """Cluster the patches of all items."""
        if self.n_words < 1:
            raise ValueError(f"n_words must be at least 1, got {self.n_words}: give a positive number of words.")
        patches = np.concatenate(items) if items else np.empty((0, self.patch_side**2), dtype=np.float32)
        if len(patches) < self.n_words:
            raise ValueError(
                f"n_words must be at most the number of patches, got {self.n_words} words for {len(patches)} patches: "
                f"lower n_words or give more images."
            )
        random = check_random_state(self.random_state)
        if self.max_fit_patches is not None and len(patches) > max(self.max_fit_patches, self.n_words):
            patches = patches[random.choice(len(patches), max(self.max_fit_patches, self.n_words), replace=False)]
        from sklearn.cluster import MiniBatchKMeans  # late, for a quick start

        # One start suffices: counts over many words hardly depend on where a few of the centres begin.
        clusters = MiniBatchKMeans(self.n_words, batch_size=2048, n_init=1, random_state=random).fit(patches)
        self.words_: NDArray[np.float32] = clusters.cluster_centers_.astype(np.float32)

    def transform(self, X: Iterable[ArrayLike]) -> sp.csr_array:
        """Count the words of each item.

        Parameters
        ----------
        X : iterable of array-like
            Images or patch arrays, as `input` says.

        Returns
        -------
        csr_array of shape (n_items, n_words)
            Counts as float32; each row adds up to the number of patches of its item.
        """
        check_is_fitted(self, "words_")
        return self._count(self._patch_arrays(X))

    def _count(self, items: list[NDArray[np.float32]]) -> sp.csr_array:
        """Count the words of patch arrays that were checked already."""
        counts = np.zeros((len(items), len(self.words_)), dtype=np.float32)
        for row, patches in enumerate(items):
            counts[row] = np.bincount(self.assign(patches), minlength=len(self.words_))
        return sp.csr_array(counts)

    def assign(self, patches: ArrayLike) -> NDArray[np.intp]:
        """Return the number of the nearest word of each patch.

        Parameters
        ----------
        patches : array-like of shape (n_patches, patch_side ** 2)
            Normalised patches.

        Returns
        -------
        ndarray of shape (n_patches,)
            Numbers of words, those nearest in Euclidean distance.

        Examples
        --------
        >>> import numpy as np
        >>> patches = np.random.default_rng(0).normal(size=(30, 169))
        >>> words = VisualWords(n_words=5, random_state=0).fit([patches])
        >>> words.assign(words.words_).tolist()
        [0, 1, 2, 3, 4]
        """
        check_is_fitted(self, "words_")
        checked = self._check_patches(patches)
        if len(checked) == 0:
            return np.empty(0, dtype=np.intp)
        return np.asarray(pairwise_distances_argmin(checked, self.words_), dtype=np.intp)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the words, `visual_word_0` onwards.

        Parameters
        ----------
        input_features : ignored
            Present for pipelines.

        Returns
        -------
        ndarray of str
            One name a word.
        """
        check_is_fitted(self, "words_")
        return np.asarray([f"visual_word_{index}" for index in range(len(self.words_))], dtype=object)

    def _patch_arrays(self, X: Iterable[ArrayLike]) -> list[NDArray[np.float32]]:
        """Bring every item to an array of patches."""
        if self.input not in ("patches", "images"):
            raise ValueError(f"input must be 'patches' or 'images', got {self.input!r}: choose one of these.")
        if self.input == "patches":
            return [self._check_patches(item) for item in X]
        return [
            interest_patches(
                item,
                self.detectors,
                self.max_points_per_detector,
                longer_side=self.longer_side,
                patch_side=self.patch_side,
            ).patches
            for item in X
        ]

    def _check_patches(self, item: ArrayLike) -> NDArray[np.float32]:
        """Check that an item is an array of patches of the right length."""
        patches = np.asarray(item, dtype=np.float32)
        length = self.patch_side**2
        if patches.ndim != 2 or patches.shape[1] != length:
            raise ValueError(
                f"Each item must be an array of patches with {length} columns, got shape {patches.shape}: "
                f"cut patches with interest_patches, or set input='images' to pass images."
            )
        if not np.isfinite(patches).all():
            raise ValueError("Patches must be finite numbers, got NaN or infinity: remove those patches first.")
        return patches
