"""Topics of Reuters-21578: the ten largest, and all of them, which are very uneven.

Stories of the ModApte split with exactly one topic, of topics that occur in training and in test stories; counts of the
10,000 most frequent words of the training stories. `HarmoniumClassifier()` with all defaults, and without its linear
part from words to scores (the paper's model), against plain rivals: what they weight words by, and their strength, are
chosen together by three-fold cross-validation on training stories. Test stories are looked at once.
"""

from __future__ import annotations

from types import SimpleNamespace

from benchmarks.comparing import Comparison, error, macro_f1
from benchmarks.features.words import reuters
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS
from harmonium import HarmoniumClassifier, Hinge

BENCHMARK = Benchmark(
    title="Text classification: uneven topics of Reuters-21578",
    claim="all defaults against linear rivals on the ten largest topics of Reuters-21578 and on all of them",
    minutes=12,
    data=("reuters21578",),
    settings={"words": 10_000, "seeds": 3, "rows": 0},
    quick={"words": 500, "seeds": 1, "rows": 150},
)
# number of classes (0: all) and rivals; a logistic regression for each of all the topics would take most of the time
TABLES = {
    "ten": (10, ("linear SVM", "logistic regression, one against the rest")),
    "all": (0, ("linear SVM",)),
}
DEFAULTS, PAPER, HEAD = "`HarmoniumClassifier()`", "MMH: `Hinge(linear_part=False)`", Hinge(linear_part=False)


def compared(n_classes: int, rivals: tuple[str, ...], options: SimpleNamespace) -> tuple[Comparison, str]:
    """Return all methods on some classes, and what there was to learn from, in words."""
    texts = reuters(n_classes, options.rows)
    train, test = ({"words": words} for words in texts.counts(options.words))
    comparison = Comparison(texts.truth, {"error": error, "macro F1": macro_f1}, lower_is_better=True)
    comparison.add_rivals({name: RIVALS[name] for name in rivals}, train, texts.y, test, classes=True)
    seeds = range(options.seeds)
    for name, settings in ((DEFAULTS, {}), (PAPER, {"n_components": 50, "hidden": "bernoulli", "head": HEAD})):
        models = (HarmoniumClassifier(**settings, random_state=seed) for seed in seeds)
        comparison.add_seeds(name, models, train, texts.y, test)
    rows = f"{len(texts.y):,} training and {len(texts.truth):,} test stories, {len(texts.names)} topics"
    return comparison, rows


def run(options: SimpleNamespace) -> Result:
    """Compare the methods on the largest classes, and on all."""
    result = Result()
    result.text(
        f"Stories with exactly one topic, counts of {options.words:,} words. Harmoniums: means of {options.seeds} "
        "seeds ± standard deviation. The difference is that of the error to the best rival's on the test stories, with "
        "a paired 95 % interval (bootstrap over test stories). Times include the choice of settings on both sides. "
        "Logistic regression is left out of the table of all topics, where it is too slow."
    )
    for name, (n_classes, rivals) in TABLES.items():
        comparison, rows = compared(n_classes, rivals, options)
        result.text(f"{rows}:")
        result.table(name, comparison.columns(), comparison.rows())
        result.text(comparison.verdict(DEFAULTS))
    return result
