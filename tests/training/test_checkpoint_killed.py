"""A fit that is killed in the middle of an epoch, and called again, ends with the same bits."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from harmonium import Harmonium, ModelFolder, Stochastic, TableViews, fit_folder
from tests.cases.repository import ROOT

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "text": [" ".join(RNG.choice(["sea", "sky", "rain", "sun", "wind"], 3)) for _ in range(120)],
        "n": RNG.normal(size=120),
    }
)


def fit(place: Path) -> ModelFolder:
    driver = Stochastic(max_iter=6, batch_size=20)
    reader = TableViews({"text": "words", "n": "number"})
    return fit_folder(place, Harmonium(3, views=reader, driver=driver, random_state=0), FRAME)


def killed_in_an_epoch(place: str, after: int) -> None:
    """Fit until so many batches are done, and then be gone, without a chance to tidy up."""
    from harmonium.training import checkpoint
    from harmonium.views.data import Data

    checkpoint._SECONDS = -1.0  # every epoch is written, not one every half minute
    done, batches = [0], Data.batches

    def counted(*given: object, **others: object) -> object:
        for batch in batches(*given, **others):  # type: ignore[arg-type]
            done[0] += 1
            if done[0] > after:
                signal.raise_signal(signal.SIGKILL)
            yield batch

    Data.batches = counted  # type: ignore[method-assign]
    fit(Path(place))


def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    # three epochs and a half, of six batches each
    call = f"from {__name__} import killed_in_an_epoch; killed_in_an_epoch({str(tmp_path / 'b')!r}, 21)"
    ended = subprocess.run([sys.executable, "-c", call], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert [entry.name for entry in tmp_path.iterdir()] == ["b.unfinished"]
    assert any("checkpoint" in entry.name for entry in (tmp_path / "b.unfinished").iterdir())
    undisturbed, resumed = fit(tmp_path / "a"), fit(tmp_path / "b")
    one, two = undisturbed.model.fitted_.parameters, resumed.model.fitted_.parameters
    assert resumed.model.n_iter_ == undisturbed.model.n_iter_ == 6
    assert all(np.array_equal(one[name], two[name]) for name in one)
    np.testing.assert_array_equal(resumed.coordinates, undisturbed.coordinates)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "b"]
