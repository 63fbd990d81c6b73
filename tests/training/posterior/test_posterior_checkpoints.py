"""Chains that were interrupted go on exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harmonium import BDWH, Langevin
from harmonium.exceptions import ModelFileError
from harmonium.inspection import posterior_draws
from harmonium.training import Driver, Metropolis, checkpoint
from tests.cases.posterior import QUICK, fitted, two_views


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("driver", [Langevin(**QUICK), Langevin(**QUICK, batch_size=9), Metropolis(**QUICK)], ids=repr)
@pytest.mark.parametrize("after", [9, 25])
def test_interrupted_runs_go_on_exactly(
    driver: Driver, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = BDWH(3, driver=driver, random_state=0).fit(two_views())
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    path = tmp_path / "run.safetensors"
    kept = driver.with_fitted().set_params(checkpoint=path)
    move, count = type(driver).move, 0

    def interrupted(self: Any, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count > 2 * after:
            raise Interrupted
        move(self, *arguments)

    model = BDWH(3, driver=kept, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(type(driver), "move", interrupted)
        with pytest.raises(Interrupted):
            model.fit(two_views())
    assert path.exists() and not hasattr(model, "families_")
    with pytest.raises(ValueError, match="same settings and data"):
        BDWH(2, driver=kept, random_state=0).fit(two_views())
    model.fit(two_views())
    assert not path.exists()
    for name, value in posterior_draws(whole).items():
        np.testing.assert_array_equal(value, posterior_draws(model)[name])
    np.testing.assert_array_equal(whole.history_["step"], model.history_["step"])


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a model")
    with pytest.raises(ModelFileError, match="earlier fit"):
        fitted(checkpoint=path)
    assert path.read_text() == "not a model"
