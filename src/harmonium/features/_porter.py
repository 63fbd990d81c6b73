"""The Porter stemming algorithm."""

from __future__ import annotations

# Each table is tried longest suffix first: the algorithm lets only the longest matching suffix of a step act.
_STEP_TWO = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_THREE = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_FOUR_SUFFIXES = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
_STEP_FOUR = dict.fromkeys(_STEP_FOUR_SUFFIXES.split(), "")


def _longest_first(table: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(table.items(), key=lambda item: -len(item[0])))


_STEP_TWO_RULES = _longest_first(_STEP_TWO)
_STEP_THREE_RULES = _longest_first(_STEP_THREE)
_STEP_FOUR_RULES = _longest_first(_STEP_FOUR)


def _form(word: str) -> str:
    """Spell a word as ``c`` (consonant) and ``v`` (vowel); ``y`` is a vowel only after a consonant."""
    form = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and form[-1:] == "c")
        form += "v" if vowel else "c"
    return form


def _measure(word: str) -> int:
    """Count the vowel-to-consonant changes, Porter's ``m``."""
    return _form(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _form(word)


def _ends_double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _form(word)[-1] == "c"


def _ends_short_syllable(word: str) -> bool:
    """Porter's ``*o``: consonant, vowel, consonant, where the last is not w, x or y."""
    return _form(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plurals(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if not word.endswith(suffix):
            continue
        stem = word[: -len(suffix)]
        if not _has_vowel(stem):
            return word
        if stem.endswith(("at", "bl", "iz")):
            return stem + "e"
        if _ends_double_consonant(stem) and stem[-1] not in "lsz":
            return stem[:-1]
        if _measure(stem) == 1 and _ends_short_syllable(stem):
            return stem + "e"
        return stem
    return word


def _replace_suffix(word: str, rules: tuple[tuple[str, str], ...], minimum: int) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            # "ion" goes only from "sion" and "tion", as in adoption, not in champion.
            blocked = suffix == "ion" and not stem.endswith(("s", "t"))
            return stem + replacement if _measure(stem) >= minimum and not blocked else word
    return word


def _tidy_end(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short_syllable(stem)):
            word = stem
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


class PorterStemmer:
    """Strip English suffixes by the Porter algorithm, and remember every word seen.

    The rules are those of Porter's own published program, which differs from his 1980 paper in three points: words
    of one or two letters stay as they are, ``bli`` (not ``abli``) becomes ``ble``, and ``logi`` becomes ``log``.

    Examples
    --------
    >>> stemmer = PorterStemmer()
    >>> [stemmer.stem(word) for word in ["relational", "hopping", "happy", "oscillators"]]
    ['relat', 'hop', 'happi', 'oscil']
    """

    def __init__(self) -> None:
        # Text repeats few words very often, so a dictionary makes stemming a corpus as cheap as a look-up.
        self._memory: dict[str, str] = {}

    def stem(self, word: str) -> str:
        """Return the stem of one lower-case word.

        Parameters
        ----------
        word : str
            A word in lower case.

        Returns
        -------
        str
            Its stem, which need not itself be a word.
        """
        stem = self._memory.get(word)
        if stem is None:
            stem = self._memory[word] = self._stem(word)
        return stem

    __call__ = stem

    @staticmethod
    def _stem(word: str) -> str:
        if len(word) <= 2:
            return word
        word = _past_and_progressive(_plurals(word))
        if word.endswith("y") and _has_vowel(word[:-1]):
            word = word[:-1] + "i"
        word = _replace_suffix(word, _STEP_TWO_RULES, 1)
        word = _replace_suffix(word, _STEP_THREE_RULES, 1)
        word = _replace_suffix(word, _STEP_FOUR_RULES, 2)
        return _tidy_end(word)
