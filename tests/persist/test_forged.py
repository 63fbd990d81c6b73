"""Files with a right digest and wrong numbers: they are refused, or whatever they answer is finite."""

from __future__ import annotations

from pathlib import Path

import pytest

from harmonium.storage import write_sealed
from tests.cases.forged import MODELS, is_refused, outcomes, save, tensor_forgeries


@pytest.mark.parametrize("name", MODELS)
def test_forged_numbers_are_refused_or_harmless(name: str, tmp_path: Path) -> None:
    """All of them are the benchmark `forged_files`."""
    counts, found = outcomes(*save(name, tmp_path), most=25)
    assert found == [] and counts["refused"] > 10


@pytest.mark.parametrize("kind", ["infinite", "whole", "zero"])
def test_constants_are_checked_as_a_fit_would_make_them(kind: str, tmp_path: Path) -> None:
    path, X = save("families", tmp_path)
    forged = {name: rest for name, *rest in tensor_forgeries(path)}
    description, tensors = forged[f"constants/y/scale {kind}"]
    write_sealed(path, description, tensors)
    assert is_refused(path, X)
