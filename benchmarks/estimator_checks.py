"""scikit-learn's own checks of estimators, each accounted for: passed, or not applicable and why."""

from __future__ import annotations

import warnings
from collections import Counter
from types import SimpleNamespace
from typing import Any

from benchmarks.registry import Benchmark
from benchmarks.results import Result

BENCHMARK = Benchmark(
    title="scikit-learn's checks",
    claim="every check that scikit-learn has for an estimator: passed, or not applicable for a reason that is named",
    minutes=1,
    settings={"estimators": ("Harmonium", "HarmoniumClassifier", "HarmoniumRegressor")},
    quick={"estimators": ("Harmonium",)},
)
_WEIGHTS = "rows of weight 0 are unlabelled, not absent, and teach the views; training is stochastic besides"
_BY_DESIGN = {
    "check_sample_weight_equivalence_on_dense_data": _WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": _WEIGHTS,
}


def run(options: SimpleNamespace) -> Result:
    """Check every public estimator that takes a matrix, and list whatever did not simply pass."""
    rows, others = [], []
    for name, estimator in estimators().items():
        if name not in options.estimators:
            continue
        counts, reasons = accounted(estimator)
        rows.append(
            [name, sum(counts.values()), counts["passed"], counts["xfail"] + counts["skipped"], counts["failed"]]
        )
        others += [[name, *reason] for reason in reasons]
    result = Result()
    columns = {"estimator": None} | dict.fromkeys(("checks", "passed", "not applicable", "failed"), "{:,.0f}")
    result.table("checks", columns, rows)
    result.table("not passed", {"estimator": None, "check": None, "how": None, "why": None}, others)
    return result


def estimators() -> dict[str, Any]:
    """Return the public estimators that take one matrix, with short training."""
    from harmonium import EpsilonInsensitive, Harmonium, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic

    quick: dict[str, Any] = {"driver": Stochastic(8, 25, learning_rate=0.1), "random_state": 0}
    supervised = quick | {"validation_fraction": 0}
    return {
        "Harmonium": Harmonium(3, **quick),
        "HarmoniumClassifier": HarmoniumClassifier(5, head=Hinge(C=10.0), **supervised),
        "HarmoniumRegressor": HarmoniumRegressor(5, head=EpsilonInsensitive(C=10.0), **supervised),
    }


def accounted(estimator: Any) -> tuple[Counter[str], list[list[str]]]:
    """Return how many checks ended in which way, and the reasons of all that did not pass."""
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, expected_failed_checks=_BY_DESIGN, on_skip=None, on_fail=None)
    reasons = [[entry["check_name"], entry["status"], _reason(entry)] for entry in found if entry["status"] != "passed"]
    return Counter(entry["status"] for entry in found), reasons


def _reason(entry: dict[str, Any]) -> str:
    from tests.cases.sklearn_checks import NOT_APPLICABLE

    if entry["status"] == "skipped":
        return NOT_APPLICABLE[entry["check_name"]]
    return str(_BY_DESIGN.get(entry["check_name"]) or entry["exception"])[:200]
