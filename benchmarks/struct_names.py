"""Does the order of letters help? Names of wines: which language do they come from?

The name of a wine, without its grape, year and place, is a sequence of letters. What is to be told is the language of
the region it grows in: English, Spanish, German, French or Italian. Letters and their kinds (vowels, plosives, …) are
the features, and neighbours that share a feature are what languages differ in: doubled letters, clusters of consonants,
vowels in a row. Names with shuffled letters keep all counts. Names that begin with the same word, mostly that of the
estate, are either all in the training or all in the test part, and equal names count once.

All settings are chosen on training names: C and epochs of harmoniums inside `fit`, preparation and C of SVMs by
cross-validation. The set was chosen because a linear model of the names, cross-validated, did better with counts of
neighbours than without (0.69 against 0.65), but with names of the same estate on both sides. Of three others that were
looked at in the same way, the layout of lines of messages and rows of emoji pictures gained next to nothing, and rows
of edges of Caltech-4 0.007.
"""

from __future__ import annotations

import re
import unicodedata
from types import SimpleNamespace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import GroupShuffleSplit

from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.struct_hotels import Scores, add_rivals, add_table, counted, driver, gain, gathered
from harmonium import MMH, Poisson, Sequences, structMMH
from harmonium.datasets import load_wines

BENCHMARK = Benchmark(
    title="Order of letters: names of wines",
    claim="structMMH against MMH and SVMs on letters of names of wines, with shuffled letters as a control",
    minutes=6,
    data=("wines",),
    settings={"sizes": (10,), "splits": 3, "most": 250, "processes": 3},
    quick={"sizes": (5,), "splits": 2, "most": 40, "processes": 1},
)
LANGUAGES = {
    "English": "Sonoma|Napa|Central Coast|Columbia|Central Valley|California|Finger|Sierra|Mendocino|Willamette"
    "|Virginia|Washington|Oregon|North Coast",
    "German": "Germany|Austria",
    "French": "Alsace|Burgundy|Champagne",
    "Spanish": "Chile|Mendoza Province",
    "Italian": "Ital",
}
GRAPES = re.compile("cabernet sauvignon|zinfandel|chardonnay|riesling")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
KINDS = ("aeiouy", "ptkbdgcq", "fvszhjx", "lr", "mn", "bcdfghjklmnpqrstvwxz", " ")
SHORTEST = 6


def name_of(title: str) -> str:
    """Return the letters of a title in front of its place, without grape and year."""
    plain = unicodedata.normalize("NFKD", title.partition("(")[0]).encode("ascii", "ignore").decode().lower()
    return " ".join(re.sub("[^a-z ]", " ", GRAPES.sub("", plain)).split())


def names(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return different names and their languages, at most so many of each language."""
    frame = load_wines()[["title", "location"]].dropna()
    rng = np.random.default_rng(0)
    found: dict[str, str] = {}
    for language, places in LANGUAGES.items():
        titles = frame["title"][frame["location"].str.contains(places)]
        fresh = sorted({name_of(title) for title in titles} - set(found))
        long = [name for name in fresh if len(name) >= SHORTEST]
        found |= dict.fromkeys(rng.permutation(long)[:most].tolist(), language)
    return np.array(list(found)), np.array(list(found.values()))


def sequence(name: str) -> np.ndarray:
    """Return letters by features, zeros and ones."""
    return np.array(
        [[letter == c for c in LETTERS] + [letter in kind for kind in KINDS] for letter in name], np.float32
    )


def one_split(seed: int, sizes: tuple[int, ...], most: int) -> Scores:
    """Return accuracies on one split of the names."""
    texts, languages = names(most)
    y = np.unique(languages, return_inverse=True)[1]
    estates = np.array([text.split()[0] for text in texts])
    rows, held = next(GroupShuffleSplit(1, test_size=0.4, random_state=seed).split(texts, y, estates))
    train, test = (Sequences.from_matrices([sequence(texts[i]) for i in part]) for part in (rows, held))
    y, truth = y[rows], y[held]
    dense = [{name: view.toarray() for name, view in counted(part).items()} for part in (train, test)]
    counts, new_counts = ({"counts": views["counts"]} for views in dense)
    scores: Scores = {}
    inputs: dict[str, tuple[Any, Any]] = {
        "SVM, counts": (counts, new_counts),
        "SVM, counts and neighbours": (dense[0], dense[1]),
    }
    add_rivals(scores, inputs, y, truth)
    mixed, new_mixed = train.shuffled(seed), test.shuffled(seed)
    for K in sizes:
        parts: dict[str, Any] = {"driver": driver(0.05), "random_state": seed, "n_jobs": 1}
        scores["structMMH", K] = structMMH(K, **parts).fit(train, y).score(test, truth)
        scores["structMMH, shuffled letters", K] = structMMH(K, **parts).fit(mixed, y).score(new_mixed, truth)
        flat = MMH(K, {"counts": Poisson(length_normalize=False)}, **parts)
        scores["MMH, counts", K] = flat.fit(counts, y).score(new_counts, truth)
        print(seed, {name: round(score, 3) for (name, k), score in scores.items() if k in (0, K)}, flush=True)
    return scores


def run(options: SimpleNamespace) -> Result:
    """Measure accuracies on splits of the names."""
    runs = Parallel(n_jobs=options.processes)(
        delayed(one_split)(seed, options.sizes, options.most) for seed in range(options.splits)
    )
    found, K = gathered(runs), options.sizes[-1]
    languages, sizes = np.unique(names(options.most)[1], return_counts=True)
    by_language = ", ".join(f"{language} {size}" for language, size in zip(languages, sizes, strict=True))
    result = Result()
    result.text(
        f"{sizes.sum()} names ({by_language}), 60 % of the estates to train on; test accuracy, mean and standard error "
        f"over {options.splits} splits:"
    )
    add_table(result, "names", found, options.sizes)
    result.text(
        f"Pairwise over splits, K={K}: structMMH - MMH on counts {gain(found, 'structMMH', 'MMH, counts', K)}, "
        f"structMMH - its shuffled control {gain(found, 'structMMH', 'structMMH, shuffled letters', K)}; SVM with "
        f"neighbours less SVM with counts alone {gain(found, 'SVM, counts and neighbours', 'SVM, counts', 0)}."
    )
    return result
