"""`Sequences`: items that are ordered lists of binary vectors, such as the words of the paragraphs of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from harmonium.exceptions import InvalidViewError
from harmonium.features.paragraphs import paragraph_words
from harmonium.kernels.chains.counts import count_chains, sequences_from_counts
from harmonium.views.sequence_input import binary_rows, checked_offsets, columns, numbered, one_item, possible_counts


class Sequences:
    """Items that are ordered lists of binary vectors over the same features.

    Items may differ in length, and one without vectors is missing. Sequences are sliced by items, so the
    cross-validation of scikit-learn works as usual.

    Parameters
    ----------
    rows : array-like or sparse matrix of shape (n_vectors, n_features)
        Zeros and ones: the vectors of all items, those of an item below each other in their order.
    offsets : sequence of int
        Row at which each item begins, followed by the end of the last one.
    feature_names : sequence of str, optional
        Names of the columns.

    See Also
    --------
    Sequences.from_matrices : Make sequences from one matrix per item.
    Sequences.from_texts : Make sequences from the paragraphs of texts.
    Sequences.from_frame : Make sequences from a long data frame.

    Examples
    --------
    >>> import numpy as np
    >>> both = Sequences(np.array([[1, 0], [1, 1], [0, 1]]), [0, 2, 3])
    >>> len(both), both.shape, both.lengths.tolist()
    (2, (2, 2), [2, 1])
    >>> both[[0]].matrix(0).toarray().tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    ndim = 2  # to scikit-learn it looks like one row per item

    def __init__(self, rows: Any, offsets: Any, feature_names: Sequence[str] | None = None) -> None:
        self.rows = binary_rows(rows)
        self.offsets = checked_offsets(offsets, self.rows.shape[0])
        self.feature_names = None if feature_names is None else [str(name) for name in feature_names]
        if self.feature_names is not None and len(self.feature_names) != self.rows.shape[1]:
            raise InvalidViewError(
                f"Sequences need one feature name per column, {self.rows.shape[1]}; got {len(self.feature_names)}; "
                "pass the names in the order of the columns."
            )
        values = self.rows.data
        if not (values == 1).all():  # NaN is not equal to 1 either
            entry = int(np.argmax(values != 1))
            row = int(np.searchsorted(self.rows.indptr, entry, side="right")) - 1
            item = int(np.searchsorted(self.offsets, row, side="right")) - 1
            raise InvalidViewError(
                f"Sequences need values 0 or 1; found {values[entry]:g} in item {item}, vector "
                f"{row - int(self.offsets[item])}, column {int(self.rows.indices[entry])}; binarize the vectors first."
            )

    # ---- making ------------------------------------------------------------------------------------------------
    @classmethod
    def from_matrices(cls, matrices: Iterable[Any], feature_names: Sequence[str] | None = None) -> Sequences:
        """Make sequences from one matrix per item.

        Parameters
        ----------
        matrices : iterable of matrices of shape (n_vectors, n_features)
            The vectors of each item, in order: arrays, sparse matrices or data frames. None or a matrix without rows is
            a missing item.
        feature_names : sequence of str, optional
            Names of the columns.

        Returns
        -------
        Sequences
            The items in the given order.

        Examples
        --------
        >>> import numpy as np
        >>> Sequences.from_matrices([np.eye(2), None, np.ones((3, 2))]).lengths.tolist()
        [2, 0, 3]
        """
        items = [None if matrix is None else one_item(number, matrix) for number, matrix in enumerate(matrices)]
        given = {number: item for number, item in enumerate(items) if item is not None}
        if not given:
            raise InvalidViewError("Sequences need at least one item with vectors; got none; leave the view out.")
        width = next(iter(given.values())).shape[1]
        for number, item in given.items():
            if item.shape[1] != width:
                raise InvalidViewError(
                    f"All items of Sequences must have the same features, {width}; item {number} has {item.shape[1]}; "
                    "pass the same columns in the same order."
                )
        lengths = [0 if item is None else item.shape[0] for item in items]
        rows = scipy.sparse.vstack([*given.values()], format="csr")
        return cls(rows, np.concatenate([[0], np.cumsum(lengths)]), feature_names)

    @classmethod
    def from_texts(cls, texts: Iterable[Sequence[str] | None], **options: Any) -> Sequences:
        """Make sequences from the paragraphs of texts.

        Parameters
        ----------
        texts : iterable of lists of str
            The paragraphs of each item; `harmonium.features.paragraphs` cuts texts into them. An empty list or None is
            a missing item.
        **options : object
            Options of `harmonium.features.text.text_counts`, such as ``vocabulary=training.feature_names`` for new
            texts.

        Returns
        -------
        Sequences
            The words of the paragraphs, one item for each text.

        Examples
        --------
        >>> reviews = Sequences.from_texts([["Clean room.", "The room was quiet."], ["Rude staff!"]])
        >>> reviews.feature_names, reviews.lengths.tolist()
        (['clean', 'quiet', 'room', 'rude', 'staff'], [2, 1])
        """
        rows, offsets, words = paragraph_words(texts, **options)
        return cls(rows, offsets, words.tolist())

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        item: str = "item",
        position: str = "position",
        feature: str = "feature",
        items: Sequence[Any] | None = None,
        feature_names: Sequence[Any] | None = None,
    ) -> Sequences:
        """Make sequences from a long data frame.

        Each row of the frame says that an item has a feature at a position.

        Parameters
        ----------
        frame : data frame
            Frame of any library (pandas, polars, …), with a row for each 1. Rows that occur twice count once.
        item : str, default="item"
            Name of the column of items.
        position : str, default="position"
            Name of the column of positions. These are whole numbers and are counted from the smallest one in the frame.
            Positions before an item's last one that do not occur are vectors of zeros.
        feature : str, default="feature"
            Name of the column of features.
        items : sequence, optional
            Items in the order of the other views. Items that the frame lacks are missing, and other items are left out.
            By default it is all items that occur, sorted.
        feature_names : sequence, optional
            Features in the order of the columns, such as ``training.feature_names``. Other features are left out. By
            default it is all features that occur, sorted.

        Returns
        -------
        Sequences
            The items in the given order.

        Examples
        --------
        >>> import pandas as pd
        >>> long = pd.DataFrame({"item": ["b", "a", "a"], "position": [1, 1, 3], "feature": ["x", "x", "y"]})
        >>> Sequences.from_frame(long).lengths.tolist()
        [3, 1]
        """
        table = columns(frame, item, position, feature)
        positions = table[position]
        if positions.dtype.kind not in "iu":
            raise InvalidViewError(
                f"Positions of Sequences must be whole numbers; column {position!r} is {positions.dtype}; number the "
                "vectors of each item."
            )
        known, number = numbered("items", table[item], items)
        names, column = numbered("feature_names", table[feature], feature_names)
        positions = positions.astype(np.int64)  # narrow ones may not hold the differences
        place = positions - (positions.min() if len(positions) else 0)
        kept = number >= 0
        lengths = np.zeros(len(known), dtype=np.int64)
        np.maximum.at(lengths, number[kept], place[kept] + 1)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        kept &= column >= 0
        rows = offsets[number[kept]] + place[kept]
        ones = scipy.sparse.csr_array(
            (np.ones(len(rows), np.float32), (rows, column[kept])), shape=(int(offsets[-1]), len(names))
        )
        ones.sum_duplicates()
        ones.data[:] = 1
        return cls(ones, offsets, [str(name) for name in names])

    @classmethod
    def from_counts(
        cls, counts: Any, lengths: Any, random_state: Any = None, feature_names: Sequence[str] | None = None
    ) -> Sequences:
        """Draw random sequences with given counts.

        All sequences that have the counts are equally probable.

        Parameters
        ----------
        counts : array-like or sparse matrix of shape (n_items, 2 * n_features)
            How many vectors of each item have each feature, and how many neighbouring pairs do, as in `counts`.
        lengths : array-like of int of shape (n_items,)
            Number of vectors of each item.
        random_state : int or numpy.random.Generator, optional
            Source of randomness.
        feature_names : sequence of str, optional
            Names of the features.

        Returns
        -------
        Sequences
            One item for each row of counts.

        Examples
        --------
        >>> Sequences.from_counts([[3, 2]], [3]).matrix(0).toarray().ravel().tolist()  # three ones, two neighbours
        [1.0, 1.0, 1.0]
        """
        lengths = np.asarray(lengths, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        counted = possible_counts(counts, lengths)
        n_features = counted.shape[1] // 2
        is_node = counted.col < n_features
        cells = counted.row.astype(np.int64) * n_features + counted.col % n_features
        nodes, place = np.unique(cells[is_node], return_index=True)
        ones, pairs = counted.data[is_node][place], np.zeros(len(nodes))
        pairs[np.searchsorted(nodes, cells[~is_node])] = counted.data[~is_node]
        items, features = np.divmod(nodes, n_features)
        random = np.random.default_rng(random_state).random((len(items), 1 + int(lengths.max(initial=0))))
        rows, places = sequences_from_counts(items, features, ones, pairs, lengths, offsets, random)
        values = np.ones(len(rows), dtype=np.float32)
        shape = int(offsets[-1]), n_features
        return cls(scipy.sparse.csr_array((values, (rows, places)), shape=shape), offsets, feature_names)

    # ---- looking -----------------------------------------------------------------------------------------------
    @property
    def lengths(self) -> np.ndarray:
        """Number of vectors of each item."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of items, and number of features."""
        return len(self), int(self.rows.shape[1])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, items: Any) -> Sequences:
        if isinstance(items, tuple):  # scikit-learn asks for X[items, ...]
            items = items[0]
        if not isinstance(items, slice):
            items = np.asarray(items)
            items = items if items.size else items.astype(np.int64)  # an empty list has no whole numbers in it
        # a mask or a list that does not fit is refused by NumPy
        chosen = np.atleast_1d(np.arange(len(self))[items])
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # row numbers: those of the result, moved from where each item is now to where it was
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][chosen] - offsets[:-1], lengths)
        result = Sequences.__new__(Sequences)  # what was checked need not be checked again
        result.rows, result.offsets, result.feature_names = self.rows[rows], offsets, self.feature_names
        return result

    def __iter__(self) -> Iterator[Sequences]:
        return (self[number] for number in range(len(self)))

    def matrix(self, item: int) -> scipy.sparse.csr_array:
        """Return the vectors of one item.

        Parameters
        ----------
        item : int
            Number of the item; negative numbers count from the end.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_vectors, n_features)
            Zeros and ones.
        """
        item = range(len(self))[item]  # a range knows negative numbers, and refuses those that are too large
        return self.rows[int(self.offsets[item]) : int(self.offsets[item + 1])]

    def presence(self) -> scipy.sparse.csr_array:
        """Return which features each item has in any of its vectors.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_items, n_features)
            Zeros and ones: the items without their order.
        """
        result = self.counts[:, : self.rows.shape[1]].tocsr()
        result.data = np.ones_like(result.data)
        return result

    def shuffled(self, random_state: Any = None) -> Sequences:
        """Return the same items with their vectors in random order.

        A result that stays the same on shuffled items is not due to order.

        Parameters
        ----------
        random_state : int or numpy.random.Generator, optional
            Source of randomness.

        Returns
        -------
        Sequences
            Items of the same lengths.

        Examples
        --------
        >>> import numpy as np
        >>> Sequences(np.eye(3), [0, 3]).shuffled(0).matrix(0).sum()
        np.float32(3.0)
        """
        rng = np.random.default_rng(random_state)
        items = np.repeat(np.arange(len(self)), self.lengths)
        rows = np.lexsort((rng.random(len(items)), items)) + self.offsets[0]
        return Sequences(self.rows[rows], self.offsets - self.offsets[0], self.feature_names)

    @cached_property
    def counts(self) -> scipy.sparse.csr_array:
        """Counts of the vectors and of the neighbouring pairs that have each feature.

        They have the shape (n_items, 2 * n_features): counts of vectors come first, then those of pairs.
        """
        n_items, n_features = self.shape
        indptr, indices, data = count_chains(self.rows.indptr, self.rows.indices, self.offsets, n_features)
        # narrow indices wherever they suffice: scikit-learn's solvers take no others
        dtype = np.int32 if indptr[-1] < np.iinfo(np.int32).max else np.int64
        return scipy.sparse.csr_array((data, indices, indptr.astype(dtype)), shape=(n_items, 2 * n_features))

    def __repr__(self) -> str:
        shortest, longest = (self.lengths.min(), self.lengths.max()) if len(self) else (0, 0)
        return f"Sequences({len(self)} items of {shortest} to {longest} vectors; {self.shape[1]} features)"
