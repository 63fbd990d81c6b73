"""Any nonsense for any declared setting is refused in one sentence, before anything is computed; nothing changes."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import Categorical, Harmonium, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.core.parts import _REGISTRY
from harmonium.core.validation import check_settings
from harmonium.heads import Ordinal
from harmonium.weak import DissimilarityClassifier, IterativeLatentSVM, LatentSVM, MatrixLoss
from tests.cases.bad_input import assert_one_sentence, snapshot

HARMONIUMS = [Harmonium, HarmoniumClassifier, HarmoniumRegressor]
OWNERS = [
    *(part for part in _REGISTRY.values() if part.__module__.startswith("harmonium.")),
    *HARMONIUMS,
    LatentSVM,
    IterativeLatentSVM,
    DissimilarityClassifier,
]
# settings that only the data can judge, and what others take that is nonsense elsewhere
JUDGED_BY_DATA = {"cost", "embed", "initial", "matrix", "n_categories"}
TAKES: dict[str, tuple[type, ...]] = {
    "checkpoint": (str,),
    "edges": (tuple,),  # none at all
    "folder": (str,),
    "function": (type(len), type),
    "levels": (list, tuple),
    "views": (list, tuple),
    "class_weight": (dict,),
    "prior": (dict,),
    "separator": (str,),
}
CASES = [(owner, name) for owner in OWNERS for name in owner.settings if name not in JUDGED_BY_DATA]
NONSENSE = st.one_of(
    st.builds(object),
    st.complex_numbers(),
    st.just(float("nan")) | st.just(float("-inf")) | st.just(10**400) | st.just(np.datetime64("NaT")),
    st.sampled_from([len, int, np.zeros((40, 40)), np.array(["a", None]), (), (object(),), [object()], {"a": "b"}]),
    st.text(max_size=200).map(lambda text: f"no {text}"),
    st.binary(min_size=1),
    st.sets(st.integers(), min_size=1),
    st.dictionaries(st.integers(), st.builds(object), min_size=1),
)


def made(owner: Any, name: str, value: Any) -> Any:
    """The part or estimator with one setting changed, and 2 for whatever it needs."""
    given = {key: 2 for key, found in signature(owner).parameters.items() if found.default is found.empty}
    return owner(**{**given, name: value})


@settings(deadline=None, max_examples=4)
@given(data=st.data())
@pytest.mark.parametrize(("owner", "name"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_nonsense_is_refused_in_one_sentence(owner: Any, name: str, data: st.DataObject) -> None:
    value = data.draw(NONSENSE.filter(lambda value: not isinstance(value, TAKES.get(name, ()))))
    tried = made(owner, name, value)
    with pytest.raises((TypeError, ValueError)) as refusal:
        check_settings(tried, owner.settings)
    assert_one_sentence(str(refusal.value))
    assert str(refusal.value).startswith(owner.__name__) or name in str(refusal.value)
    assert getattr(tried, name) is value


@settings(deadline=None, max_examples=40)
@given(
    case=st.sampled_from([(owner, name) for owner, name in CASES if owner in HARMONIUMS]),
    value=NONSENSE,
)
def test_estimators_refuse_it_before_they_look_at_x(case: tuple[Any, str], value: Any) -> None:
    owner, name = case
    if isinstance(value, TAKES.get(name, ())):
        return
    model = made(owner, name, value)
    before = snapshot(model)
    nothing = object()  # would be refused as X, if it were looked at
    with pytest.raises((TypeError, ValueError), match=rf"^{owner.__name__} needs .*{name}|^{name}\[") as refusal:
        model.fit(nothing, [0, 1, 0, 1])
    assert_one_sentence(str(refusal.value))
    assert list(vars(model)) == list(before.attributes) and getattr(model, name) is value


X = np.random.default_rng(0).normal(size=(8, 2))
CODES = np.tile([[0.0], [1.0], [2.0], [1.0]], (2, 1))
BAGS = [np.eye(2)[[number % 2, 0]] for number in range(4)]
WITH_DATA: dict[str, Any] = {
    "cost": lambda value: classifier(Hinge(C=1.0, cost=value)).fit(X, [0, 1] * 4),
    "levels": lambda value: classifier(Ordinal(C=1.0, levels=value)).fit(X, [0, 1] * 4),
    "class_weight": lambda value: classifier(Hinge(C=1.0, class_weight=value)).fit(X, [0, 1] * 4),
    "n_categories": lambda value: Harmonium(2, views=[Categorical(value)], driver=Stochastic(max_iter=1)).fit([CODES]),
    "matrix": lambda value: LatentSVM(loss=MatrixLoss(value), max_iter=1).fit(BAGS, [0, 1] * 2),
    "initial": lambda value: LatentSVM(initial=value, max_iter=1).fit(BAGS, [0, 1] * 2),
}


def classifier(head: Any) -> HarmoniumClassifier:
    return HarmoniumClassifier(2, head=head, driver=Stochastic(max_iter=1), validation_fraction=0)


@settings(deadline=None, max_examples=15)
@given(value=NONSENSE | st.just([[1], [1, 2]]) | st.just([[]]))
@pytest.mark.parametrize("name", WITH_DATA)
def test_what_only_the_data_can_judge_is_refused_in_one_sentence(name: str, value: Any) -> None:
    if name in ("matrix", "initial"):
        pytest.importorskip("piqp")
    with pytest.raises((TypeError, ValueError)) as refusal:
        WITH_DATA[name](value)
    assert_one_sentence(str(refusal.value))
