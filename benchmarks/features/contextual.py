"""A few interpretable numbers about the tone and the form of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from benchmarks.features.adjectives import NEGATIVE_ADJECTIVES, POSITIVE_ADJECTIVES
from harmonium.features.sentences import denied, denies, split_sentences

__all__ = ["CONTEXTUAL_FEATURES", "NEGATIVE_ADJECTIVES", "POSITIVE_ADJECTIVES", "contextual_features"]

CONTEXTUAL_FEATURES = (
    "pos_adj",
    "re_pos_adj",
    "neg_adj",
    "re_neg_adj",
    "denying",
    "intensifier",
    "contrast",
    "pronoun",
    "exclamation",
    "question",
    "shouted",
    "words",
    "sentences",
    "sentence_length",
)

_SHOUTED_LETTERS = 3

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")

_INTENSIFIER_LIST = """
    absolutely amazingly completely deeply entirely especially exceptionally extremely fully highly hugely incredibly
    insanely particularly perfectly pretty quite really remarkably seriously so super terribly thoroughly too totally
    truly utterly very
"""
_CONTRAST_LIST = "although but despite except however nevertheless nonetheless though unless whereas yet"
_PRONOUN_LIST = "i me my mine myself we us our ours ourselves you your yours yourself yourselves"

_INTENSIFIERS, _CONTRASTS, _PRONOUNS = (
    frozenset(words.split()) for words in (_INTENSIFIER_LIST, _CONTRAST_LIST, _PRONOUN_LIST)
)


def _count(text: str) -> tuple[float, ...]:
    """Count everything in one text, in the order of `CONTEXTUAL_FEATURES`."""
    text = text.replace("’", "'")
    praise, denied_praise, blame, denied_blame, denying, intensifiers, contrasts, pronouns, shouted = (0,) * 9
    n_words = n_sentences = 0
    for sentence in split_sentences(text):
        spoken = _WORD.findall(sentence)
        lower = [word.lower() for word in spoken]
        n_words += len(spoken)
        n_sentences += bool(spoken)
        for original, word, is_denied in zip(spoken, lower, denied(lower), strict=True):
            if word in POSITIVE_ADJECTIVES:
                praise += not is_denied
                denied_praise += is_denied
            elif word in NEGATIVE_ADJECTIVES:
                blame += not is_denied
                denied_blame += is_denied
            elif denies(word):
                denying += 1
            intensifiers += word in _INTENSIFIERS
            contrasts += word in _CONTRASTS
            # The pronoun of "we've" and "I'm" stands before the apostrophe.
            pronouns += word.partition("'")[0] in _PRONOUNS
            shouted += len(original) >= _SHOUTED_LETTERS and original.isupper()
    length = n_words / n_sentences if n_sentences else 0.0
    tone = (praise, denied_praise, blame, denied_blame, denying, intensifiers, contrasts, pronouns)
    return *tone, text.count("!"), text.count("?"), shouted, n_words, n_sentences, length


def contextual_features(texts: Iterable[str]) -> tuple[np.ndarray, list[str]]:
    """Describe the tone and the form of each text by 14 numbers.

    Parameters
    ----------
    texts : iterable of str
        One English string a document, in its original spelling: capitals and punctuation count.

    Returns
    -------
    features : ndarray of float32, (documents, 14)
        The logarithm ``log(1 + count)`` of every count, which keeps long texts from standing far out and so suits a
        Gaussian view; a text without words has a row of zeros but for its punctuation.
    names : list of str
        The name of each column, always in this order:

        - ``pos_adj`` and ``neg_adj``: adjectives that praise or blame, with no denying word before them;
        - ``re_pos_adj`` and ``re_neg_adj``: those with a denying word among the three words before them in the
          same sentence, as in "not very clean";
        - ``denying``: denying words (no, not, never, without, ...) and contractions on "n't";
        - ``intensifier`` (very, really, ...), ``contrast`` (but, however, ...) and ``pronoun`` (first and second
          person);
        - ``exclamation`` and ``question``: the marks;
        - ``shouted``: words of three letters or more in capitals;
        - ``words``, ``sentences`` and ``sentence_length`` (the mean number of words in a sentence).

    Notes
    -----
    The four adjective features are those of [1]_, section 5.3.2, after its hotel reviews; the paper does not list its
    other ten nor its adjectives, so that the other features and the word lists are made for this benchmark.

    References
    ----------
    .. [1] N. Chen, J. Zhu, F. Sun and E. P. Xing. Large-margin predictive latent subspace learning for multiview data
       analysis. IEEE Transactions on Pattern Analysis and Machine Intelligence, 34(12), 2012.

    Examples
    --------
    >>> features, names = contextual_features(["A lovely, clean room! It wasn't very quiet, but NEVER dirty."])
    >>> counts = np.expm1(features[0]).round(2)
    >>> {name: float(count) for name, count in zip(names, counts) if count}
    {'pos_adj': 2.0, 're_pos_adj': 1.0, 're_neg_adj': 1.0, 'denying': 2.0, 'intensifier': 1.0, 'contrast': 1.0,
     'exclamation': 1.0, 'shouted': 1.0, 'words': 11.0, 'sentences': 2.0, 'sentence_length': 5.5}
    """
    if isinstance(texts, str):
        raise TypeError("texts must be an iterable of strings, but got one string; put it in a list.")
    counts = np.array([_count(text) for text in texts], dtype=np.float64).reshape(-1, len(CONTEXTUAL_FEATURES))
    return np.log1p(counts).astype(np.float32), list(CONTEXTUAL_FEATURES)
