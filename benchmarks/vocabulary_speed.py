"""MMH on 20 Newsgroups with 5,000 to 60,000 binary words: seconds of a fit and test errors.

The documents are the same; the vocabulary is that of the most frequent words. A step should cost what is in the batch
and in what is drawn, and not the words that are in neither.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.measuring import alternate, median, with_deviation
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from harmonium import HarmoniumClassifier, Hinge, Stochastic
from harmonium.datasets import load_newsgroups

BENCHMARK = Benchmark(
    title="Large vocabularies: MMH on 20 Newsgroups",
    claim="a fit of 60,000 words against one of 5,000, on the same documents",
    minutes=3,
    data=("newsgroups",),
    settings={"units": 50, "words": (5000, 20_000, 60_000), "epochs": 5, "rounds": 5, "seeds": 3},
    quick={"units": 5, "words": (200, 400), "epochs": 1, "rounds": 1, "seeds": 1},
)
RATIO_GOAL = 2


def run(options: SimpleNamespace) -> Result:
    """Time whole fits in turn, then fit with several seeds for the errors."""
    messages = load_newsgroups(remove=("headers",))
    is_train = messages.split == "train"
    texts, y = messages.views["text"], messages.target
    data = {}
    for words in options.words:
        vectoriser = CountVectorizer(max_features=words, binary=True, dtype=np.float32)
        data[words] = vectoriser.fit_transform(texts[is_train]), vectoriser.transform(texts[~is_train])

    def fit(words: int, seed: int = 0) -> HarmoniumClassifier:
        driver = Stochastic(
            options.epochs, learning_rate=0.01, max_update=0.5, schedule="constant", weight_decay=0.5, average=True
        )
        model = HarmoniumClassifier(
            options.units, head=Hinge(C=0.4), driver=driver, validation_fraction=0, random_state=seed
        )
        return model.fit(data[words][0], y[is_train])

    seconds = alternate({str(words): lambda w=words: fit(w) for words in options.words}, options.rounds)
    fewest = seconds[str(options.words[0])]
    rows = []
    for words in options.words:
        train, test = data[words]
        errors = [1 - fit(words, seed).score(test, y[~is_train]) for seed in range(options.seeds)]
        # ratios of runs that stood next to each other
        ratio = median([b / a for a, b in zip(fewest, seconds[str(words)], strict=True)])
        per_row = train.nnz / train.shape[0]
        rows.append([words, per_row, median(seconds[str(words)]), ratio, with_deviation(errors)])
    result = Result()
    result.text(
        f"{int(is_train.sum()):,} documents (CSR float32), {options.units} units, {options.epochs} epochs; whole fits, "
        f"median of {options.rounds} alternate rounds; test errors over {options.seeds} seeds. Goal: at most "
        f"{RATIO_GOAL} times the seconds of {options.words[0]:,} words."
    )
    columns = ["words", "words a document", "seconds", f"× {options.words[0]:,} words", "test error"]
    result.table("vocabularies", columns, rows)
    return result
