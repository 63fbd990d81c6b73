"""Texts as lists of paragraphs, and the words of each paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from harmonium.features.text import text_counts

__all__ = ["paragraph_words", "split_paragraphs"]

_BLANK_LINE = re.compile(r"\n\s*\n")
# Where a sentence ends and the next one begins; the marks stay with the sentence.
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+")


def split_paragraphs(text: str, sentences: int | None = None) -> list[str]:
    """Cut a text into paragraphs.

    Parameters
    ----------
    text : str
        A text in its original spelling.
    sentences : int, optional
        Cut after this many sentences, for texts without paragraphs of their own; by default at blank lines.

    Returns
    -------
    list of str
        The paragraphs, none of them blank.

    Examples
    --------
    >>> split_paragraphs("Dear all,\\n\\nit works. It does!\\n\\n\\nYours")
    ['Dear all,', 'it works. It does!', 'Yours']
    >>> split_paragraphs("It works. It does! We tried it.", sentences=2)
    ['It works. It does!', 'We tried it.']
    """
    if sentences is None:
        parts = _BLANK_LINE.split(text)
    else:
        if sentences < 1:
            raise ValueError(f"sentences must be at least 1, but got {sentences}; None cuts at blank lines.")
        single = _BETWEEN_SENTENCES.split(text)
        parts = [" ".join(single[first : first + sentences]) for first in range(0, len(single), sentences)]
    return [part.strip() for part in parts if part.strip()]


def paragraph_words(
    texts: Iterable[Sequence[str] | None], **options: Any
) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Find which words each paragraph of each text has.

    Parameters
    ----------
    texts : iterable of lists of str
        The paragraphs of each text; a text that is missing is None or an empty list.
    **options
        Those of `harmonium.features.text.text_counts`, to which a paragraph is a document: ``vocabulary`` takes the
        words of training texts, ``negation=True`` tells negated words from others.

    Returns
    -------
    rows : csr_matrix of shape (n_paragraphs, n_words)
        1 where the paragraph has the word, as float32; the paragraphs of all texts follow one another.
    offsets : ndarray of shape (n_texts + 1,)
        Where each text begins in ``rows``, and the end of the last.
    vocabulary : ndarray of shape (n_words,)
        The word of each column.

    See Also
    --------
    split_paragraphs : Cut a text into paragraphs.

    Examples
    --------
    >>> rows, offsets, words = paragraph_words([["Clean room.", "A room with a view"], None, ["Not clean!"]])
    >>> words.tolist(), offsets.tolist(), rows.toarray().astype(int).tolist()
    (['clean', 'room', 'view'], [0, 2, 2, 3], [[1, 1, 0], [0, 1, 1], [1, 0, 0]])
    """
    if not options.get("binary", True):
        raise ValueError("paragraph_words says which words are there; got binary=False; use text_counts for counts.")
    if isinstance(texts, str):
        raise TypeError("texts must be lists of paragraphs, but got one string; cut it with split_paragraphs.")
    paragraphs: list[str] = []
    offsets = [0]
    for number, text in enumerate(texts):
        missing = text is None or (isinstance(text, float) and text != text)  # how data frames say so
        parts = [] if missing or isinstance(text, str | float) or text is None else list(text)
        if (isinstance(text, str | float) and not missing) or not all(isinstance(part, str) for part in parts):
            raise TypeError(
                f"texts must be lists of paragraphs, but text {number} is {type(text).__name__}; cut it with "
                "split_paragraphs."
            )
        paragraphs += parts
        offsets.append(len(paragraphs))
    rows, words = text_counts(paragraphs, **(options | {"binary": True}))
    return rows, np.array(offsets, dtype=np.int64), words
