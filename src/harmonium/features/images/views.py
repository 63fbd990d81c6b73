"""The door for images: two views of each, ready for a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from harmonium.features.images.colours import colour_histogram, colour_names
from harmonium.features.images.words import VisualWords


class ImageViews(TransformerMixin, BaseEstimator):
    """Turn images into two views: shares of colours and counts of visual words.

    Parameters
    ----------
    n_words : int, default=125
        Number of visual words, as in `VisualWords`.
    n_levels : int, default=4
        Number of levels of red, green and blue each, as in `colour_histogram`.
    max_points_per_detector : int, default=60
        The largest number of points at which each detector cuts patches from an image.
    longer_side : int or None, default=200
        Length in pixels to which the longer side is brought before points are looked for; None leaves images as they
        are.
    random_state : int, RandomState or None, default=None
        Seed of the clustering that finds the visual words.

    Attributes
    ----------
    visual_words_ : VisualWords
        The fitted vocabulary.

    See Also
    --------
    VisualWords : Counts of visual words alone.
    colour_histogram : Shares of colours of one image.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> images = [rng.random((40, 60, 3)) for _ in range(3)]
    >>> views = ImageViews(n_words=10, random_state=0).fit_transform(images)
    >>> {name: view.shape for name, view in views.items()}
    {'colours': (3, 64), 'visual_words': (3, 10)}
    """

    def __init__(
        self,
        n_words: int = 125,
        *,
        n_levels: int = 4,
        max_points_per_detector: int = 60,
        longer_side: int | None = 200,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_words = n_words
        self.n_levels = n_levels
        self.max_points_per_detector = max_points_per_detector
        self.longer_side = longer_side
        self.random_state = random_state

    def fit(self, X: Iterable[ArrayLike], y: Any = None) -> Self:
        """Learn the visual words of training images.

        Parameters
        ----------
        X : iterable of array-like
            The images, as `colour_image` takes them; they may differ in size.
        y : ignored
            Present for pipelines.

        Returns
        -------
        ImageViews
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[ArrayLike], y: Any = None) -> dict[str, pd.DataFrame]:
        """Learn the visual words of training images and return their views.

        Parameters
        ----------
        X : iterable of array-like
            The images, as `colour_image` takes them; they may differ in size.
        y : ignored
            Present for pipelines.

        Returns
        -------
        dict of DataFrame
            As `transform` returns it.
        """
        images = list(X)
        visual_words = VisualWords(
            self.n_words,
            input="images",
            max_points_per_detector=self.max_points_per_detector,
            longer_side=self.longer_side,
            random_state=self.random_state,
        )
        counts = visual_words.fit_transform(images)
        self.visual_words_ = visual_words
        return self._frames(images, counts)

    def transform(self, X: Iterable[ArrayLike]) -> dict[str, pd.DataFrame]:
        """Return the two views of images.

        Parameters
        ----------
        X : iterable of array-like
            The images, as `colour_image` takes them; they may differ in size.

        Returns
        -------
        dict of DataFrame
            ``"colours"``, the share of each colour (columns named like ``"#20209f"``), and ``"visual_words"``, how
            often each visual word occurs; one row for each image, as float32.
        """
        check_is_fitted(self, "visual_words_")
        images = list(X)
        return self._frames(images, self.visual_words_.transform(images))

    def _frames(self, images: list[ArrayLike], counts: sp.csr_array) -> dict[str, pd.DataFrame]:
        shares = np.array([colour_histogram(image, self.n_levels) for image in images], dtype=np.float32)
        names = colour_names(self.n_levels)
        return {
            "colours": pd.DataFrame(shares.reshape(-1, len(names)), columns=names),
            "visual_words": pd.DataFrame(counts.toarray(), columns=self.visual_words_.get_feature_names_out()),
        }
