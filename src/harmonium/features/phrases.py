"""Phrases of texts: words that follow each other far more often than by chance."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from harmonium.core.validation import check_real, check_whole
from harmonium.features._function_words import are_function_words

__all__ = ["find_phrases"]


def find_phrases(
    texts: Iterable[str],
    max_words: int = 3,
    min_texts: int = 5,
    min_npmi: float = 0.5,
    pattern: str = r"(?u)\b\w\w+\b",
) -> list[str]:
    """Return the phrases of texts, sorted: runs of words that stand out of chance.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    max_words : int, default=3
        Largest number of words of a phrase.
    min_texts : int, default=5
        Smallest number of texts that a phrase occurs in.
    min_npmi : float, default=0.5
        Smallest normalised pointwise mutual information, from 0 (chance) to 1 (never apart), of the two parts of a
        phrase, wherever it is cut.
    pattern : str
        What a word is, as a regular expression; texts are compared in small letters.

    Returns
    -------
    list of str
        The phrases, their words separated by a space. They begin and end with words that are no function words.

    References
    ----------
    Bouma (2009), Normalized (pointwise) mutual information in collocation extraction.

    Examples
    --------
    >>> texts = ["thin walls and a fine view", "a fine bed", "the view is fine", "a bed and thin walls"] * 5
    >>> find_phrases(texts, max_words=2)
    ['thin walls']
    """
    if isinstance(texts, str):
        raise TypeError("texts must be an iterable of strings; got one string; put it in a list.")
    check_whole("find_phrases", "max_words", max_words, remedy="3 is usual")
    check_whole("find_phrases", "min_texts", min_texts, remedy="5 is usual")
    check_real("find_phrases", "min_npmi", min_npmi, remedy="0.5 is usual")
    find, ids, owners = re.compile(pattern).findall, dict[str, int](), []
    tokens: list[int] = []
    for number, text in enumerate(texts):
        found = [ids.setdefault(word, len(ids)) for word in find(text.lower())]
        tokens += found
        owners.append(np.full(len(found), number))
    if not tokens:
        return []
    words, codes, owner = np.array(list(ids), dtype=object), np.array(tokens), np.concatenate(owners)
    totals = np.bincount(codes)
    content = ~are_function_words(list(words), totals)
    # the runs of n words: their number at each place, -1 where there is none, and how often each occurs
    runs, counts = [codes], [totals]
    phrases: list[str] = []
    for n in range(2, max_words + 1):
        first, last = runs[-1][:-1], codes[n - 1 :]
        valid = (first >= 0) & (totals[last] >= min_texts) & (owner[: len(first)] == owner[n - 1 :])
        places = np.flatnonzero(valid)
        kinds, where, run, count = np.unique(
            first[places] * len(words) + last[places], return_index=True, return_inverse=True, return_counts=True
        )
        per_text = np.unique(run * (owner[-1] + 1) + owner[places]) // (owner[-1] + 1)
        enough = np.bincount(per_text, minlength=len(kinds)) >= min_texts
        start = places[where]
        stands_out = enough & content[codes[start]] & content[codes[start + n - 1]]
        for cut in range(1, n):
            before, after = runs[cut - 1][start], runs[n - cut - 1][start + cut]
            stands_out &= (before >= 0) & (after >= 0)
            parts = counts[cut - 1][before] * counts[n - cut - 1][after]
            stands_out &= _npmi(count, parts, len(codes)) >= min_npmi
        phrases += [" ".join(words[codes[at : at + n]]) for at in start[stands_out]]
        longer = np.full(len(first), -1)
        longer[places] = np.where(enough[run], run, -1)
        runs.append(longer)
        counts.append(count)
    return sorted(phrases)


def _npmi(together: np.ndarray, apart: np.ndarray, n: int) -> np.ndarray:
    """Return log(p(xy) / p(x)p(y)) / -log p(xy), from the count of xy, the product of those of x and y, and of all."""
    share = np.minimum(together / n, 1 - 1e-12)
    return np.asarray(np.log(together * float(n) / np.maximum(apart, 1)) / -np.log(share))
