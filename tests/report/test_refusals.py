"""Reports refuse in one sentence, also where matplotlib is missing, which is imported late."""

import subprocess
import sys

import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from harmonium.report import (
    ClassTopicsDisplay,
    MapDisplay,
    RetrievalDisplay,
    TopicsDisplay,
    UsageDisplay,
    class_table,
    feature_examples,
    feature_table,
    sensitivity_table,
    topic_table,
    usage_table,
)
from tests.cases.report import N_ROWS, fit_case, make_classifier


@pytest.fixture(scope="module")
def case():
    return fit_case()


def refusals(case):
    model, X, y = case.model, case.X, case.y
    return {
        "not a model": (lambda: topic_table(make_pipeline(PCA())), TypeError, "Pipeline"),
        "unknown feature": (lambda: feature_table(model, ["words_99"], "words"), ValueError, "'words_99'"),
        "no feature": (lambda: feature_table(model, [], "words"), ValueError, "none"),
        "unknown view": (lambda: feature_table(model, ["words_1"], "sound"), ValueError, "'sound'"),
        "view not named": (lambda: TopicsDisplay.from_estimator(model), ValueError, "named"),
        "y without X": (lambda: topic_table(model, y=y), ValueError, "no X"),
        "y without X in a display": (lambda: TopicsDisplay.from_estimator(model, y=y), ValueError, "no X"),
        "names without X": (lambda: topic_table(model, item_names=["a"]), ValueError, "item_names"),
        "too few names": (lambda: topic_table(model, X, item_names=["a"]), ValueError, "60 rows"),
        "too few labels": (lambda: class_table(model, X, y[:5]), ValueError, "60"),
        "too few labels of a map": (lambda: MapDisplay.from_estimator(model, X, y[:5]), ValueError, "60 rows"),
        "too few labels of units": (lambda: usage_table(model, X, y[:5]), ValueError, "60 rows"),
        "no labels of units": (lambda: usage_table(model, X, [None] * N_ROWS), ValueError, "at least one"),
        "no items of units": (lambda: feature_examples(model, X, "words", n_items=0), ValueError, "n_items"),
        "view not there": (lambda: feature_examples(model, {"words": X["words"]}, "colour"), ValueError, "'colour'"),
        "view of examples not named": (lambda: feature_examples(model, X), ValueError, "named"),
        "no units": (lambda: UsageDisplay.from_estimator(model, X, n_units=0), ValueError, "n_units"),
        "classes without y": (lambda: UsageDisplay.from_estimator(model, X, by_class=True), ValueError, "no y"),
        "no features": (lambda: topic_table(model, n_features=0), ValueError, "n_features"),
        "unknown topic": (lambda: TopicsDisplay.from_estimator(model, view="words", topics=[3]), ValueError, "0, 1, 2"),
        "same topic": (lambda: TopicsDisplay.from_estimator(model, view="words", topics=[1, 1]), ValueError, "differ"),
        "a map of no items": (lambda: MapDisplay.from_estimator(model, X, max_items=0), ValueError, "max_items"),
        "unknown parameter": (
            lambda: sensitivity_table(make_classifier(head=None), X, y, "head__D", [1]),
            ValueError,
            "head=",
        ),
        "no values": (lambda: sensitivity_table(make_classifier(), X, y, "head__C", []), ValueError, "values"),
        "not a report": (lambda: RetrievalDisplay.from_reports({"a": 0.5}), TypeError, "float"),
        "no reports": (lambda: RetrievalDisplay.from_reports({}), TypeError, "mapping"),
        "not axes": (lambda: ClassTopicsDisplay.from_estimator(model, X, y, ax="here"), TypeError, "str"),
        "free axes": (
            lambda: TopicsDisplay.from_estimator(model, view="words", ax=Figure().add_axes((0, 0, 1, 1))),
            ValueError,
            "subplots",
        ),
    }


def test_refusals_are_one_sentence(case):
    for what, (call, kind, part) in refusals(case).items():
        with pytest.raises(kind) as refusal:
            call()
        message = str(refusal.value)
        assert part in message, (what, message)
        assert message.endswith(".") and "\n" not in message and message.count("; ") <= 3, (what, message)


def test_matplotlib_is_imported_late_and_missed_in_one_sentence(case, monkeypatch):
    command = "import sys, harmonium.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (
        lambda: ClassTopicsDisplay.from_estimator(case.model, case.X, case.y),
        lambda: MapDisplay(map=pd.DataFrame()).plot(),
    ):
        with pytest.raises(ImportError, match=r'pip install "harmonium\[plot\]"\.$'):
            call()
