"""Saving refuses what a file cannot hold, and leaves what was there if it fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sklearn.exceptions import NotFittedError

from harmonium import Harmonium, Stochastic
from harmonium.persist import load_model, save_model
from tests.cases.persist import fitted


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


@pytest.mark.parametrize("ending", [".pkl", ".joblib", ".json", ".h5", ".npz", ".zip", ".SAFETENSORS", ".v2"])
def test_other_endings_are_refused_unless_a_folder_is_asked_for(ending: str, tmp_path: Path) -> None:
    model = fitted()
    for path in (tmp_path / f"model{ending}", f"{tmp_path}/model{ending}"):
        with pytest.raises(ValueError, match=r"ends in \.safetensors, or to a folder.*got .*model"):
            model.save(path)
    assert not list(tmp_path.iterdir())
    model.save(f"{tmp_path}/model{ending}/")
    model.save(tmp_path / f"model{ending}")  # it is a folder already
    assert (
        load_model(f"{tmp_path}/model{ending}/").n_components_ == load_model(tmp_path / f"model{ending}").n_components_
    )


def test_dots_in_the_names_of_folders(tmp_path: Path) -> None:
    model = fitted()
    for name in ("model-0.2", "2024.01.15", ".hidden", "new/", "new.safetensors/"):
        model.save(f"{tmp_path}/{name}")
        assert (tmp_path / name / "model.json").is_file()
        load_model(f"{tmp_path}/{name}")


def test_what_is_no_path_is_refused() -> None:
    model = fitted()
    for act in (model.save, load_model):
        for path in ("", " "):
            with pytest.raises(ValueError, match="empty path"):
                act(path)
        for path in (None, 3, b"model"):
            with pytest.raises(TypeError, match="text or a Path"):
                act(path)


@pytest.mark.parametrize("name", ["model", "model.safetensors"])
def test_a_save_that_fails_leaves_the_old_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    model.save(tmp_path / name)

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("harmonium.storage.replacing.flush_to_disk", fail)
    with pytest.raises(OSError, match=r"^A file is saved .*disk full\.$"):
        model.set_params(output="natural").save(tmp_path / name)
    assert load_model(tmp_path / name).output == "mean"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
