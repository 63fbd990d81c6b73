"""Sentence boundaries and negation: where sentences end, and which of their words are negated."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["denied", "denies", "split_sentences"]

# How many words after a negating one it still reaches, as in "not a very good place".
_WINDOW = 3

# A full stop between digits belongs to a number; a blank line ends a sentence, a single line break does not.
_SENTENCE_END = re.compile(r"(?<!\d)[.!?]+|[.!?]+(?!\d)|\n\s*\n")

# Contractions are recognised by their ending; those typed without the apostrophe are listed.
_DENYING_LIST = """
    no not never none nothing nobody nowhere neither nor cannot without hardly barely scarcely rarely seldom lack lacks
    lacked lacking arent cant couldnt didnt doesnt dont hasnt havent isnt shouldnt wasnt werent wont wouldnt
"""
_DENYING = frozenset(_DENYING_LIST.split())


def split_sentences(text: str) -> list[str]:
    """Cut a text into sentences.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        What stands between full stops, question marks, exclamation marks and blank lines, which are left out; a full
        stop within a number ends no sentence. The last one is empty if the text ends with a mark.

    Examples
    --------
    >>> split_sentences("It cost 3.50 a night! Never again.")
    ['It cost 3.50 a night', ' Never again', '']
    """
    return _SENTENCE_END.split(text)


def denies(word: str) -> bool:
    """Tell whether a word negates what follows it.

    Parameters
    ----------
    word : str
        A word in lower case.

    Returns
    -------
    bool
        True for words such as "not", "never" and "without", and for those that end in "n't".

    Examples
    --------
    >>> denies("wasn't"), denies("was")
    (True, False)
    """
    return word in _DENYING or word.endswith("n't")


def denied(words: Sequence[str]) -> list[bool]:
    """Tell which words of a sentence are negated.

    Parameters
    ----------
    words : sequence of str
        The words of one sentence in lower case.

    Returns
    -------
    list of bool
        True for each word that has a negating word among the three before it.

    See Also
    --------
    denies : Tell whether a word negates what follows it.

    Examples
    --------
    >>> denied("it was not a very good place".split())
    [False, False, False, True, True, True, False]
    """
    last, result = -_WINDOW - 1, []
    for position, word in enumerate(words):
        result.append(position - last <= _WINDOW)
        if denies(word):
            last = position
    return result
