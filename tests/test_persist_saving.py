"""Saving refuses what a file cannot hold, and leaves what was there if it fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.exceptions import NotFittedError

from harmonium import Harmonium, Stochastic
from harmonium.persist import load_model, save_model

from .persist_cases import fitted


def test_saving_refuses(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        Harmonium().save(tmp_path / "model")
    with pytest.raises(TypeError, match="Only Harmonium"):
        save_model(object(), tmp_path / "model")
    with pytest.raises(TypeError, match=r"driver\.tol is of type complex"):
        fitted().set_params(driver=Stochastic(tol=1j)).save(tmp_path / "model")
    with pytest.raises(FileNotFoundError, match="create it first"):
        fitted().save(tmp_path / "nowhere" / "model")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="choose another path"):
        fitted().save(tmp_path / "file")
    (tmp_path / "folder.safetensors").mkdir()
    with pytest.raises(FileExistsError, match="choose another path"):
        fitted().save(tmp_path / "folder.safetensors")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder.safetensors"]


@pytest.mark.parametrize("name", ["model", "model.safetensors"])
def test_a_save_that_fails_leaves_the_old_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    model.save(tmp_path / name)

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("harmonium.persist.files._flush", fail)
    with pytest.raises(OSError, match="disk full"):
        model.set_params(output="natural").save(tmp_path / name)
    assert load_model(tmp_path / name).output == "mean"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
