"""Function words of European languages: articles, pronouns, prepositions, conjunctions and auxiliaries.

They hold sentences together and say nothing about a topic. The lists are short, as only closed classes are in them.
What is a function word in one language may name a thing in another ("die", "van", "door", "sea"): such words stand
after a bar in `function_words.txt`, and count as function words only in texts whose main language is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np


def _read_lists() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    text = (Path(__file__).parent / "function_words.txt").read_text(encoding="utf-8")
    lists = {}
    for section in text.split("[")[1:]:
        language, _, words = section.partition("]")
        clear, _, doubtful = words.partition("|")
        lists[language] = frozenset(clear.split()), frozenset(doubtful.split())
    return lists


#: by language, words that are function words anywhere, and those that are only in texts of that language
FUNCTION_WORDS = _read_lists()


def are_function_words(words: Sequence[str], frequency: np.ndarray) -> np.ndarray:
    """Tell which words of a vocabulary are function words of any language.

    The main language is the one whose function words are the most frequent.

    Parameters
    ----------
    words : sequence of str
        The vocabulary, in small letters.
    frequency : ndarray of shape (n_words,)
        How frequent each word is.

    Returns
    -------
    ndarray of bool, shape (n_words,)
        True for function words.

    Examples
    --------
    >>> are_function_words(["the", "van", "mais", "room"], np.array([9.0, 1.0, 1.0, 3.0])).tolist()
    [True, False, True, False]
    >>> are_function_words(["het", "van", "mais", "room"], np.array([9.0, 1.0, 1.0, 3.0])).tolist()
    [True, True, True, False]
    """
    known = {
        language: np.array([word in clear for word in words], dtype=bool)
        for language, (clear, _) in FUNCTION_WORDS.items()
    }
    main = max(known, key=lambda language: float(frequency[known[language]].sum()))
    doubtful = FUNCTION_WORDS[main][1] if known[main].any() else frozenset()
    return np.any([*known.values(), np.array([word in doubtful for word in words], dtype=bool)], axis=0)
