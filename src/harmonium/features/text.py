"""Counts of the words of texts.

Examples
--------
>>> counts, vocabulary = text_counts(["The cats sat.", "A cat sits; dogs bark."], stem=True)
>>> [str(word) for word in vocabulary]
['bark', 'cat', 'dog', 'sat', 'sit']
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from pathlib import Path

import numpy as np
import snowballstemmer
from scipy import sparse

from harmonium.features.sentences import denied, split_sentences

__all__ = ["STOP_WORDS", "text_counts", "tokenize"]

#: English stop words in the manner of the SMART retrieval system's list
STOP_WORDS = frozenset((Path(__file__).parent / "stop_words.txt").read_text(encoding="utf-8").split())

# A run of letters, with an English contraction kept on so that "isn't" can be found among the stop words.
_WORD = re.compile(r"[^\W\d_]+(?:'(?:s|t|d|m|re|ve|ll)\b)?")


@lru_cache(maxsize=2**18)
def _stem(word: str) -> str:
    # A stemmer keeps the word it works on, so that threads must not share one; making one costs next to nothing. The
    # cache makes stemming a corpus as cheap as a look-up, for text repeats few words very often.
    return str(snowballstemmer.stemmer("porter").stemWord(word))


def tokenize(
    text: str,
    stem: bool = False,
    min_length: int = 3,
    stop_words: Collection[str] | None = STOP_WORDS,
    negation: bool = False,
) -> list[str]:
    """Cut a text into lower-case words.

    Parameters
    ----------
    text : str
        Any text; digits and punctuation separate words.
    stem : bool, default=False
        Reduce each word to its stem by the algorithm of Porter (1980).
    min_length : int, default=3
        Words with fewer letters are left out; the length is that before stemming.
    stop_words : collection of str or None, default=STOP_WORDS
        Words to leave out, compared before stemming; None keeps all words.
    negation : bool, default=False
        Put "not_" before each word that has a negating word ("not", "never", ...) among the three before it in its
        sentence.

    Returns
    -------
    list of str
        The words in their order in the text.

    Notes
    -----
    Stems are those of the package snowballstemmer, which uses the faster PyStemmer where that is installed.

    Examples
    --------
    >>> tokenize("It isn't the government's 3rd decision.")
    ['government', 'decision']
    >>> tokenize("Running dogs", stem=True)
    ['run', 'dog']
    >>> tokenize("The room wasn't very clean. Friendly staff.", negation=True)
    ['room', 'not_clean', 'friendly', 'staff']
    """
    excluded = frozenset() if stop_words is None else stop_words
    if not isinstance(excluded, set | frozenset):
        excluded = frozenset(excluded)
    text = text.lower().replace("’", "'")
    words: list[str] = []
    for sentence in split_sentences(text) if negation else [text]:
        spoken = _WORD.findall(sentence)
        for word, is_denied in zip(spoken, denied(spoken) if negation else repeat(False), strict=False):
            if "'" in word:
                if word in excluded:
                    continue
                word = word.partition("'")[0]
            if len(word) >= min_length and word not in excluded:
                words.append(("not_" if is_denied else "") + (_stem(word) if stem else word))
    return words


def text_counts(
    texts: Iterable[str],
    vocabulary: Sequence[str] | np.ndarray | None = None,
    max_features: int | None = None,
    min_df: int | float = 1,
    min_count: int = 1,
    binary: bool = False,
    stem: bool = False,
    stop_words: Collection[str] | None = STOP_WORDS,
    min_length: int = 3,
    negation: bool = False,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Count the words of each text.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    vocabulary : sequence of str, optional
        Words to count, in this order, as learned from training texts; `max_features`, `min_df` and `min_count` are then
        not used.
    max_features : int, optional
        Keep at most this many of the most frequent words.
    min_df : int or float, default=1
        Keep words that occur in at least this many texts (int) or this share of them (float).
    min_count : int, default=1
        Keep words that occur at least this often in all texts together.
    binary : bool, default=False
        Return presence (0 or 1) in place of counts; the limits still look at the counts.
    stem : bool, default=False
        Reduce each word to its stem, as in `tokenize`.
    stop_words : collection of str or None, default=STOP_WORDS
        Words to leave out, as in `tokenize`.
    min_length : int, default=3
        Words with fewer letters are left out.
    negation : bool, default=False
        Put "not_" before negated words, as in `tokenize`.

    Returns
    -------
    counts : csr_matrix of shape (n_texts, n_words)
        The counts as float32.
    vocabulary : ndarray of shape (n_words,)
        The word of each column, sorted unless `vocabulary` was given.

    See Also
    --------
    tokenize : Cut a text into lower-case words.
    select_by_mutual_information : Choose the words that tell most about a class.

    Examples
    --------
    >>> counts, words = text_counts(["apple pear apple", "pear plum"])
    >>> words.tolist(), counts.toarray().tolist()
    (['apple', 'pear', 'plum'], [[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> text_counts(["plum fig plum"], vocabulary=words)[0].toarray().tolist()
    [[0.0, 0.0, 2.0]]
    """
    if isinstance(texts, str):
        raise TypeError("texts must be an iterable of strings, but got one string; put it in a list.")
    excluded = None if stop_words is None else frozenset(stop_words)

    def analyze(text: str) -> list[str]:
        return tokenize(text, stem=stem, min_length=min_length, stop_words=excluded, negation=negation)

    from sklearn.feature_extraction.text import CountVectorizer  # late, for a quick start

    if vocabulary is not None:
        words = np.asarray(vocabulary, dtype=str)
        counter = CountVectorizer(analyzer=analyze, vocabulary=words.tolist(), dtype=np.float32)
        counts = sparse.csr_matrix(counter.transform(texts))
    else:
        counter = CountVectorizer(analyzer=analyze, min_df=min_df, dtype=np.float32)
        counts = sparse.csr_matrix(counter.fit_transform(texts))
        words = counter.get_feature_names_out().astype(str)
        totals = np.asarray(counts.sum(axis=0, dtype=np.float64)).ravel()
        kept = np.flatnonzero(totals >= min_count)
        if max_features is not None and len(kept) > max_features:
            # Stable order, so that among equally frequent words the alphabet decides and not the sort.
            kept = np.sort(kept[np.argsort(-totals[kept], kind="stable")[:max_features]])
        if len(kept) == 0:
            raise ValueError(f"Some word must occur at least min_count={min_count} times, but none does; lower it.")
        counts, words = counts[:, kept], words[kept]
    if binary:
        counts.data[:] = 1.0
    return counts, words
