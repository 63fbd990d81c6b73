"""Words, counts and tf-idf."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from harmonium.features.text import STOP_WORDS, _stem, text_counts, tokenize

# The examples of Porter's paper (1980), step by step, each carried through the whole algorithm; then words by which the
# paper's rules can be told from those of his later program ("logi" and "bli" stay, two letters are no exception).
PORTER_EXAMPLES = """
caresses caress ponies poni ties ti caress caress cats cat feed feed agreed agre plastered plaster bled bled
motoring motor sing sing conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss
fizzed fizz failing fail filing file happy happi sky sky relational relat conditional condit rational ration
valenci valenc hesitanci hesit digitizer digit conformabli conform radicalli radic differentli differ vileli vile
analogousli analog vietnamization vietnam predication predic operator oper feudalism feudal decisiveness decis
hopefulness hope callousness callous formaliti formal sensitiviti sensit sensibiliti sensibl triplicate triplic
formative form formalize formal electriciti electr electrical electr hopeful hope goodness good revival reviv
allowance allow inference infer airliner airlin gyroscopic gyroscop adjustable adjust defensible defens
irritant irrit replacement replac adjustment adjust dependent depend adoption adopt homologou homolog
communism commun activate activ angulariti angular homologous homolog effective effect bowdlerize bowdler
probate probat rate rate cease ceas controll control roll roll generalizations gener oscillators oscil
yes ye say sai syzygy syzygi champion champion by by
as a psychology psychologi possibly possibli revved revv
"""
PORTER_PAIRS = PORTER_EXAMPLES.split()


@pytest.mark.parametrize(("word", "stem"), list(zip(PORTER_PAIRS[::2], PORTER_PAIRS[1::2], strict=True)))
def test_porter_stems_known_words(word: str, stem: str) -> None:
    assert tokenize(word, stem=True, min_length=1, stop_words=None) == [stem]


def test_stems_do_not_depend_on_threads() -> None:
    words = [f"{first}{last}" for first in PORTER_PAIRS for last in ("", "s", "ing", "ational", "iveness")]
    alone = [tokenize(word, stem=True) for word in words]
    _stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda word: tokenize(word, stem=True), words)) == alone


def test_tokenize_drops_stop_words_short_words_and_digits() -> None:
    text = "They're SURE it isn't O'Brien's 1,000 foxes; we don't go to ox_carts."
    assert tokenize(text) == ["brien", "foxes", "carts"]
    assert tokenize("The ox", min_length=1, stop_words=None) == ["the", "ox"]
    assert tokenize("alpha beta", stop_words=["beta"]) == ["alpha"]
    assert {"the", "of", "don't", "whereupon"} <= STOP_WORDS


def test_text_counts_limits_and_vocabulary() -> None:
    texts = ["apple apple apple pear", "pear plum", "plum pear cherry"]
    counts, words = text_counts(texts)
    assert counts.dtype == np.float32
    assert words.tolist() == ["apple", "cherry", "pear", "plum"]
    assert counts.toarray().tolist() == [[3, 0, 1, 0], [0, 0, 1, 1], [0, 1, 1, 1]]
    assert text_counts(texts, min_df=2)[1].tolist() == ["pear", "plum"]
    assert text_counts(texts, min_count=3)[1].tolist() == ["apple", "pear"]
    assert text_counts(texts, min_count=2, max_features=1)[1].tolist() == ["apple"]
    binary, _ = text_counts(texts, vocabulary=["plum", "apple"], binary=True)
    assert binary.toarray().tolist() == [[0, 1], [1, 0], [1, 0]]


def test_text_counts_errors() -> None:
    with pytest.raises(TypeError, match="put it in a list"):
        text_counts("one string")
    with pytest.raises(ValueError, match="min_count=9"):
        text_counts(["apple pear"], min_count=9)
