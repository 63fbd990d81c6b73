"""All defaults against the linear SVM on 20 Newsgroups with large vocabularies, as counts.

By-date split, bodies only, the most frequent words of the training messages. The rival's preparation of the words and
its C are chosen by cross-validation on training messages. Errors of the classifier are means over seeds.
`newsgroups_classification` has the same for 5,000 words.
"""

from __future__ import annotations

from types import SimpleNamespace

from benchmarks.comparing import Comparison
from benchmarks.features.words import newsgroups
from benchmarks.newsgroups_classification import add_defaults, error
from benchmarks.registry import Benchmark
from benchmarks.results import Result
from benchmarks.rivals.prepared import RIVALS

BENCHMARK = Benchmark(
    title="Large vocabularies: 20 Newsgroups",
    claim="all defaults against the linear SVM on 20 Newsgroups with 20,000 and 60,000 words",
    minutes=20,
    data=("newsgroups",),
    settings={"sizes": (20_000, 60_000), "seeds": 3, "rows": 0},
    quick={"sizes": (1000,), "seeds": 1, "rows": 300},
)


def run(options: SimpleNamespace) -> Result:
    """Fit the rival and the classifier for each vocabulary, and measure their errors on test messages."""
    texts, rows = newsgroups(options.rows), []
    for size in options.sizes:
        counts, unseen = ({"words": words} for words in texts.counts(size))
        comparison = Comparison(texts.truth, {"test error": error}, lower_is_better=True)
        comparison.add_rivals({"linear SVM": RIVALS["linear SVM"]}, counts, texts.y, unseen, classes=True)
        add_defaults(comparison, texts, size, options.seeds, ("counts",))
        rows += [{"words": size, **row} for row in comparison.rows()]
    result = Result()
    result.text(
        "The difference is that to the error of the linear SVM on the test messages, with a paired 95 % interval "
        f"(bootstrap over test messages; of harmoniums, means of {options.seeds} seeds). Times include the choice of "
        "settings for both."
    )
    result.table("models", {"words": "{:,}", **comparison.columns()}, rows)
    return result
