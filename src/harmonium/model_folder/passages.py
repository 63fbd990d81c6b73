"""Passages of texts that say what somebody searches for: its words close together, and not denied.

A word is denied by up to five words before it in the same clause (the window of NegEx, Chapman et al. 2001), in a text
as in a query: "not clean" finds "was not clean" and "never clean", and not "clean".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from harmonium.features._function_words import FUNCTION_WORDS

# Words after a denial that it reaches, and words of a sentence among which those of a phrase count as close: the first
# is NegEx's, the second a convention.
_REACH = 5
_WINDOW = 10
# What a word counts that stands elsewhere than in the closest place, and each word between: conventions.
_ELSEWHERE = 0.5
_GAP = 0.05
# Letters of a passage that is shown: a convention.
_LETTERS = 200


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[,:()]")
_PHRASE_ENDS = re.compile(r"""[,;:.!?()"“”]|\b(?:and|but|und|aber|et|mais|y|pero)\b""", re.IGNORECASE)
_OPPOSITE = re.compile(r"un\w{4,}")
_DENIALS = _listed("""
    no not never nor neither none nobody nothing without cannot hardly barely scarcely lack lacks lacked lacking
    nicht kein keine keinen keinem keiner nie niemals ohne pas jamais sans nunca
""")
# after these a denial holds no longer: "not only dirty", "never such a dirty room", "not dirty but loud"
_RELEASES = _listed("but however although though yet except only just merely such more aber mais pero")


# what a phrase looks for: stems of words, each with its weight and whether it is denied
_Phrase = dict[str, tuple[float, bool]]


class _Word(NamedTuple):
    stem: str
    start: int
    end: int
    is_denied: bool


@dataclass(frozen=True)
class Passage:
    """A part of a text, and what of it matched.

    Attributes
    ----------
    text : str
        The part, with "…" where something was left out.
    matches : tuple of (int, int)
        Where the words begin and end that were searched for.
    """

    text: str
    matches: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return self.text


class _Place(NamedTuple):
    """Words of a phrase that stand close together in a sentence."""

    score: float
    words: tuple[_Word, ...]


class _Found(NamedTuple):
    """How well a text says a phrase, and where it says it best."""

    score: float
    place: _Place | None


class SoughtPhrases:
    """The phrases of a query, which commas and "and" separate.

    Parameters
    ----------
    query : str
        What somebody searches for.
    weigh : callable, optional
        Takes a word in small letters and returns its weight, such as its inverse document frequency. Default: 1.

    Examples
    --------
    >>> sought = SoughtPhrases("dirty room, rude staff")
    >>> texts = ["The room was dirty. Rude staff!", "Quite clean, and the staff were not rude.", "Near the sea."]
    >>> [round(sought.score([text]), 2) for text in texts]
    [0.97, 0.0, 0.0]
    >>> sought.passage([texts[0]])
    Passage(text='The room was dirty. Rude staff!', matches=((4, 8), (13, 18), (20, 24), (25, 30)))
    """

    def __init__(self, query: str, weigh: Callable[[str], float] | None = None) -> None:
        self._phrases: list[_Phrase] = []
        self._has_denials = any(_is_denial(token[0].lower()) for token in _TOKEN.finditer(query.replace("’", "'")))
        for part in _PHRASE_ENDS.split(query):
            words = list(_words(part, 0))
            says = [word for word in words if not _is_function_word(part[word.start : word.end].lower())]
            phrase = {
                word.stem: (1.0 if weigh is None else weigh(part[word.start : word.end].lower()), word.is_denied)
                for word in says
            }
            if phrase:
                self._phrases.append(phrase)
        stems = sorted({re.escape(stem) for phrase in self._phrases for stem in phrase})
        self._any = re.compile(rf"\b(?:un)?(?:{'|'.join(stems)})", re.IGNORECASE) if stems else None

    @property
    def n_words(self) -> int:
        """Number of words that are searched for."""
        return sum(map(len, self._phrases))

    @property
    def has_denials(self) -> bool:
        """Whether the query denies something, as "not clean" does."""
        return self._has_denials

    def score(self, texts: Iterable[str]) -> float:
        """Return how well an item says the phrases, by its texts: 1 if all of them, below 0 if it denies them."""
        sentences = [sentence for text in texts for sentence in self._sentences(text)]
        if not sentences:
            return 0.0
        return sum(_found(phrase, sentences).score for phrase in self._phrases) / len(self._phrases)

    def passage(self, texts: Iterable[str], letters: int = _LETTERS) -> Passage | None:
        """Return the part of a text that says the phrases best; None if no word of them is there."""
        texts = [text for text in texts if isinstance(text, str)]
        text = max(texts, key=lambda text: self.score([text]), default="")
        sentences = list(self._sentences(text))
        places = [_found(phrase, sentences).place for phrase in self._phrases]
        spans = [(place.words[0].start, place.words[-1].end) for place in places if place is not None]
        if not spans:
            return None
        agreeing = {word for words in sentences for word in words if any(_agrees(word, one) for one in self._phrases)}
        marks = sorted((word.start, word.end) for word in agreeing)
        return _cut(text, _widened(text, spans, letters), marks)

    def _sentences(self, text: str) -> Iterator[list[_Word]]:
        """Yield the words of the sentences that have one that is searched for."""
        if self._any is not None and isinstance(text, str):
            for sentence in _SENTENCE.finditer(text):
                if self._any.search(sentence[0]):
                    yield list(_words(sentence[0], sentence.start()))


def _words(sentence: str, start: int) -> Iterator[_Word]:
    """Yield the words of a sentence, each with whether it is denied."""
    reach = 0
    for match in _TOKEN.finditer(sentence):
        token = match[0].lower().replace("’", "'")
        if not token[0].isalnum() or token in _RELEASES:
            reach = 0
        if not token[0].isalnum():
            continue
        is_denial = _is_denial(token)
        if not is_denial:
            opposite = _OPPOSITE.match(token)  # "unhelpful" is "not helpful"
            stem = _stem(token[2:] if opposite else token)
            yield _Word(stem, start + match.start(), start + match.end(), (reach > 0) != bool(opposite))
        reach = _REACH if is_denial else max(0, reach - 1)


def _is_denial(token: str) -> bool:
    return token in _DENIALS or token.endswith("n't")


def _stem(word: str) -> str:
    """Return a word without the endings of English plurals and genitives."""
    word = re.sub(r"'s?$", "", word)
    if len(word) < 4:
        return word
    return re.sub(r"(?<=[^su])s$", "", re.sub(r"ies$", "y", re.sub(r"(?<=ch|sh|ss)es$", "", word)))


def _is_function_word(word: str) -> bool:
    return any(word in clear for clear, _ in FUNCTION_WORDS.values())


def _found(phrase: _Phrase, sentences: list[list[_Word]]) -> _Found:
    """Return how well sentences say a phrase.

    Words of the closest place count most, words elsewhere half. Words that are there denied alone, or without the
    denial that the phrase has, count against it.
    """
    total = sum(weight for weight, _ in phrase.values())
    agreeing, opposed = set[str](), set[str]()
    best: _Place | None = None
    for words in sentences:
        hits = [(number, word) for number, word in enumerate(words) if word.stem in phrase]
        for _, word in hits:
            (agreeing if _agrees(word, phrase) else opposed).add(word.stem)
        place = _closest(phrase, hits)
        if place is not None and (best is None or place.score > best.score):
            best = place
    here = set() if best is None else {word.stem for word in best.words}
    score = 0.0 if best is None else best.score
    for stem, (weight, _) in phrase.items():
        if stem not in here:
            score += weight * (_ELSEWHERE * (stem in agreeing) - (stem in opposed - agreeing))
    return _Found(score / total, best)


def _closest(phrase: _Phrase, hits: list[tuple[int, _Word]]) -> _Place | None:
    """Return the best place of a sentence among those whose words agree with the phrase."""
    agreeing = [(number, word) for number, word in hits if _agrees(word, phrase)]
    best = None
    for first, (begin, _) in enumerate(agreeing):
        seen: dict[str, _Word] = {}
        for number, word in agreeing[first:]:
            if number - begin >= _WINDOW:
                break
            if word.stem in seen:
                continue
            seen[word.stem] = word
            gaps = number - begin + 1 - len(seen)
            score = sum(phrase[stem][0] for stem in seen) * (1 - _GAP * gaps)
            if best is None or score > best.score:
                best = _Place(score, tuple(seen.values()))
    return best


def _agrees(word: _Word, phrase: _Phrase) -> bool:
    return word.stem in phrase and phrase[word.stem][1] == word.is_denied


def _widened(text: str, spans: list[tuple[int, int]], letters: int) -> list[tuple[int, int]]:
    """Return spans with the words around them, as many as there is room for; those that meet become one."""
    if len(text) <= letters:
        return [(0, len(text))]
    room, merged = letters // len(set(spans)), list[tuple[int, int]]()
    for begin, end in sorted(set(spans)):
        more = max(1, (room - (end - begin)) // 2)
        begin, end = max(0, begin - more), min(len(text), end + more)
        while begin > 0 and text[begin - 1].isalnum():  # whole words
            begin += 1
        while end < len(text) and text[end].isalnum():
            end -= 1
        if merged and begin <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((begin, end))
    return merged


def _cut(text: str, spans: list[tuple[int, int]], marks: list[tuple[int, int]]) -> Passage:
    """Return spans of a text as one passage, without letters that a terminal would obey."""
    passage, matches = "", []
    for begin, end in spans:
        passage += (" " if passage else "") + ("… " if begin else "")
        shift = len(passage) - begin
        matches += [(first + shift, last + shift) for first, last in marks if begin <= first and last <= end]
        passage += "".join(letter if letter.isprintable() else " " for letter in text[begin:end].rstrip())
    return Passage(passage + (" …" if spans[-1][1] < len(text.rstrip()) else ""), tuple(matches))
