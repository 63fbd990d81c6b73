"""Settings in model files: checked as in a constructor, and those that belong to the machine are left out."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import IBP, Gaussian, Harmonium, HarmoniumClassifier, Hinge, Langevin, Stochastic
from harmonium.core.parts import Part
from harmonium.exceptions import ModelFileError
from harmonium.families import Beta, Binomial, NegativeBinomial
from harmonium.persist import load_model, rebuild
from harmonium.persist.description import describe
from harmonium.training import Adam
from tests.cases.persist import COUNTS, DATA, ROWS, SECOND, put, refused, rewritten

X = {"few": COUNTS, "many": COUNTS, "share": DATA["Beta"], "colour": SECOND}
VIEWS = {"few": Binomial(3), "many": NegativeBinomial(2.0), "share": Beta(), "colour": Gaussian()}


@pytest.fixture(scope="module")
def model() -> HarmoniumClassifier:
    return HarmoniumClassifier(
        views=VIEWS,
        hidden=IBP(truncation=3),
        head=Hinge(C=1.0),
        driver=Stochastic(max_iter=1, optimizer=Adam()),
        validation_fraction=0,
        random_state=0,
    ).fit(X, np.arange(ROWS) % 3)


@pytest.fixture(scope="module")
def described(model: HarmoniumClassifier) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return describe(model)


FORGED = {
    "no trials": (("views", "few", "family", "parameters", "n"), 0),
    "half a trial": (("views", "few", "family", "parameters", "n"), 2.5),
    "negative size": (("views", "many", "family", "parameters", "r"), -5),
    "size that is text": (("views", "many", "family", "parameters", "r"), "large"),
    "margin without an inside": (("views", "share", "family", "parameters", "margin"), 0.5),
    "negative variance": (("views", "colour", "family", "parameters", "variance"), -1.0),
    "no epochs": (("parameters", "driver", "parameters", "max_iter"), 0),
    "optimizer": (("parameters", "driver", "parameters", "optimizer", "parameters", "beta1"), 2.0),
    "weight of a head": (("parameters", "head", "parameters", "C"), -1.0),
    "given family": (("parameters", "views", "mapping", 0, 1, "parameters", "n"), 0),
}


@pytest.mark.parametrize("case", sorted(FORGED))
def test_forged_settings_are_refused(case: str, model: Any, tmp_path: Path) -> None:
    keys, value = FORGED[case]
    model.save(tmp_path / "model.safetensors")
    refused(rewritten(tmp_path / "model.safetensors", tmp_path, put(*keys, value=value)), "settings that make sense")


def settings_in(value: Any, keys: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every setting of every part in a description."""
    if isinstance(value, dict):
        if "part" in value:
            yield from ((*keys, "parameters", name) for name in value["parameters"])
        for key, entry in value.items():
            yield from settings_in(entry, (*keys, key))
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from settings_in(entry, (*keys, number))


def parts_in(value: Any) -> Iterator[Part]:
    """Yield parts in settings, however deep."""
    if isinstance(value, Part):
        yield value
        value = value.get_params(deep=False)
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from parts_in(entry)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_whatever_is_loaded_has_settings_that_make_sense(data: st.DataObject, described: Any) -> None:
    description, tensors = copy.deepcopy(described)
    ways = list(settings_in(description))
    assert len(ways) > 40
    keys = data.draw(st.sampled_from(ways))
    values = st.sampled_from([0, -1, -0.5, 1, 0.5, 2, 1e300, 10**400, "auto", "", True, None, [], {"float": "nan"}])
    put(*keys, value=data.draw(values))(description, tensors)
    try:
        again = rebuild(description, tensors)
    except ModelFileError as error:
        assert "\n" not in str(error)
        return
    fitted = again.fitted_
    for part in parts_in([again.get_params(deep=False), fitted.families, fitted.energy.hidden, fitted.head]):
        part.check()


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(SECOND)
    for wrong in ({"driver": Stochastic(max_iter=-1)}, {"n_components": -3}, {"views": [Binomial(0)]}):
        with pytest.raises(ValueError, match=" needs "):
            copy.copy(model).set_params(**wrong).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_path_of_a_checkpoint_belongs_to_the_machine(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    driver = Langevin(n_draws=2, n_warmup=2, thin=1, n_chains=1, start=None, checkpoint=tmp_path / "gone" / "run")
    model = Harmonium(2, driver=driver, random_state=0).fit(SECOND)
    (tmp_path / "gone").rmdir()
    for path in (tmp_path / "model.safetensors", tmp_path / "model"):
        model.save(path)
        again = load_model(path)
        assert again.driver.checkpoint is None
        assert again.driver.n_draws == 2
        again.fit(SECOND)
    assert model.driver.checkpoint == tmp_path / "gone" / "run"
    change = put("parameters", "driver", "parameters", "checkpoint", value="somewhere")
    refused(rewritten(tmp_path / "model.safetensors", tmp_path, change), "'checkpoint'")
