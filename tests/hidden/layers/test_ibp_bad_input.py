"""Settings, sizes and parts that cannot select units are refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harmonium import IBP, Harmonium, HarmoniumClassifier, Poisson
from harmonium.exceptions import IncompatiblePartsError
from harmonium.heads import LabelView
from harmonium.hidden import SpikeSlab
from harmonium.objectives import Discriminative
from tests.cases.selection import HAS, QUICK, X

REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"alpha": 0}, ValueError, "needs a number alpha > 0; got 0; 2.0 is usual, 'learn' infers it."),
    ({"alpha": -2.0}, ValueError, "needs a number alpha > 0; got -2.0"),
    ({"alpha": np.nan}, ValueError, "alpha > 0; got nan"),
    ({"alpha": "lern"}, TypeError, "alpha > 0; got 'lern'; 2.0 is usual, 'learn' infers it."),
    ({"kind": "complex"}, ValueError, "needs kind 'binary' or 'real'; got 'complex'; take one of them."),
    ({"inference": "exact"}, ValueError, "needs inference 'joint' or 'factorised'; got 'exact'"),
    ({"relevance": -0.5}, ValueError, "needs a number relevance >= 0; got -0.5; 1.0 is usual."),
    ({"variance": 0.0}, ValueError, "needs a number variance > 0; got 0.0"),
    ({"variance": -1}, ValueError, "variance > 0; got -1"),
]
SIZES: list[tuple[Any, type[Exception]]] = [(0, ValueError), (1.5, TypeError), ("many", TypeError), (True, TypeError)]


def assert_refused(model: Harmonium, data: Any, kind: type[Exception], words: str) -> None:
    before = dict(vars(model))
    with pytest.raises(kind) as error:
        model.fit(data)
    message = str(error.value)
    assert words in message and message.endswith(".") and "\n" not in message
    assert vars(model) == before


@pytest.mark.parametrize("layer_class", [SpikeSlab, IBP])
@pytest.mark.parametrize(("parameters", "kind", "words"), REFUSED, ids=lambda value: str(value)[:30])
def test_bad_settings_are_refused(
    layer_class: type[SpikeSlab], parameters: dict[str, Any], kind: type[Exception], words: str
) -> None:
    layer = layer_class(**parameters)
    assert_refused(Harmonium(3, hidden=layer), X, kind, f"{layer_class.__name__} " if "needs" in words else "")
    assert_refused(Harmonium(3, hidden=layer), X, kind, words)


@pytest.mark.parametrize(("size", "kind"), SIZES, ids=str)
def test_bad_sizes_are_refused(size: Any, kind: type[Exception]) -> None:
    words = f"IBP needs a whole number truncation >= 1; got {size!r}; None takes the estimator's n_components."
    assert_refused(Harmonium(3, hidden=IBP(truncation=size)), X, kind, words)
    assert_refused(Harmonium(3, hidden=SpikeSlab(n_units=size)), X, kind, f"n_units >= 1; got {size!r}")


@pytest.mark.parametrize("layer", [SpikeSlab(kind="real"), IBP(kind="real")], ids=str)
def test_counts_that_real_units_would_blow_up_are_refused(layer: SpikeSlab) -> None:
    words = f"View 'view0' is Poisson and cannot be normalised with {type(layer).__name__}"
    assert_refused(Harmonium(3, views=Poisson(), hidden=layer), np.ones((10, 3)), IncompatiblePartsError, words)


def test_units_cannot_be_selected_by_labels_alone() -> None:
    model = HarmoniumClassifier(hidden=IBP(truncation=4), head=LabelView(), objective=Discriminative(), driver=QUICK)
    with pytest.raises(ValueError, match=r"IBP selects units by what they explain of the views.*generative=0\.1"):
        model.fit(X, HAS[:, 0].astype(int))
    assert not hasattr(model, "families_")
