"""First use of every part, quick enough for an environment whose kernels are not compiled yet; needs pytest alone."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import harmonium
from harmonium import Harmonium, HarmoniumRegressor, Stochastic
from harmonium.cli import app

ROWS = pd.DataFrame(
    {
        "review": ["clean quiet room", "rude noisy staff", "quiet view of the sea", "noisy dirty room"] * 10,
        "place": list("abcb") * 10,
        "price": np.r_[np.nan, np.arange(39.0)],
        "rating": np.arange(40.0) % 4,
    }
)


def test_every_module_can_be_imported() -> None:
    skipped = []
    for module in pkgutil.walk_packages(harmonium.__path__, "harmonium."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError as error:  # of extras that are not installed
            skipped.append(str(error))
    assert not [reason for reason in skipped if "harmonium" in reason and "pip install" not in reason]


@pytest.mark.parametrize("frame", ["pandas", "views"])
def test_models_are_fitted_saved_and_loaded(frame: str, tmp_path: Path) -> None:
    X = ROWS.drop(columns="rating") if frame == "pandas" else {"a": np.eye(40), "b": ROWS[["rating"]].to_numpy()}
    model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(X)
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_a_folder_is_fitted_asked_reported_and_served(tmp_path: Path) -> None:
    from harmonium.explore import make_app

    model = HarmoniumRegressor(2, driver=Stochastic(max_iter=2), random_state=0)
    folder = harmonium.fit_folder(tmp_path / "rooms", model, ROWS, "rating", n_resamples=0)
    assert len(folder.search("quiet room", 3)) == 3
    assert callable(make_app(folder))
    for arguments in (["--version"], ["report", str(folder.path), "--output", str(tmp_path / "report.html")]):
        assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (tmp_path / "report.html").stat().st_size > 10_000
