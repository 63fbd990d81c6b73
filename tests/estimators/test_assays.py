"""What `Harmonium` makes of AnnData and MuData if no part is named: factors, where factors suit the assays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import mudata
import numpy as np
import pytest

from harmonium import Harmonium, HarmoniumClassifier, Stochastic
from harmonium.hidden import BernoulliUnits, FactorUnits, HiddenLayer
from harmonium.inspection import bootstrap_stability
from harmonium.model_folder import fit_folder
from harmonium.persist import load_model
from harmonium.training import Spectral

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=(80, 2))
RNA = (TRUTH @ RNG.normal(size=(2, 12)) + 0.3 * RNG.normal(size=(80, 12))).astype(np.float32)
MUTATIONS = (TRUTH @ RNG.normal(size=(2, 6)) + 0.3 * RNG.normal(size=(80, 6)) > 0).astype(np.float32)
COUNTS = RNG.poisson(2.0, size=(80, 8)).astype(np.float32)


def assays(**views: np.ndarray) -> Any:
    names = [f"patient {i}" for i in range(80)]
    data = {name: anndata.AnnData(X=view) for name, view in views.items()}
    for part in data.values():
        part.obs_names = names
    return mudata.MuData(data) if len(data) > 1 else next(iter(data.values()))


def layer(data: Any, **settings: Any) -> HiddenLayer:
    return Harmonium(4, random_state=0, **settings).fit(data).fitted_.energy.hidden


@pytest.mark.filterwarnings("error::harmonium.exceptions.HarmoniumWarning")
def test_continuous_assays_get_factors() -> None:
    data = assays(rna=RNA, mutations=MUTATIONS)
    model = Harmonium(4, random_state=0).fit(data)
    assert isinstance(model.fitted_.energy.hidden, FactorUnits)
    found = model.transform(data)
    assert found.shape == (80, 2)  # as many as were planted, and they span them
    explained = [np.linalg.lstsq(found, truth, rcond=None)[1][0] / (truth**2).sum() for truth in TRUTH.T]
    assert max(explained) < 0.1
    named = Harmonium(4, hidden="factor", random_state=0).fit(data)
    np.testing.assert_array_equal(found, named.transform(data))
    assert isinstance(layer(assays(rna=RNA)), FactorUnits)
    assert isinstance(layer(data, views={"mutations": "bernoulli"}), FactorUnits)


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        ({"rna": RNA, "counts": COUNTS}, {}),  # counts have totals, which factors do not describe
        ({"mutations": MUTATIONS}, {}),
        ({"rna": RNA}, {"hidden": "bernoulli"}),
        ({"rna": RNA}, {"driver": Stochastic(max_iter=2)}),
        ({"rna": RNA, "counts": COUNTS}, {"views": {"counts": "poisson"}}),
    ],
)
def test_other_assays_and_named_parts_get_binary_units(data: dict[str, np.ndarray], settings: dict[str, Any]) -> None:
    assert isinstance(layer(assays(**data), **settings), BernoulliUnits)


def test_matrices_and_what_is_predicted_stay_as_they_were() -> None:
    assert isinstance(layer({"rna": RNA, "mutations": MUTATIONS}), BernoulliUnits)
    classifier = HarmoniumClassifier(2, driver=Stochastic(max_iter=2), random_state=0)
    fitted = classifier.fit(assays(rna=RNA), TRUTH[:, 0] > 0).fitted_
    assert not isinstance(fitted.energy.hidden, FactorUnits)


def test_a_fit_goes_on_with_the_layer_that_it_began_with(tmp_path: Path) -> None:
    data = assays(rna=RNA, mutations=MUTATIONS)
    model = Harmonium(4, random_state=0).fit(data)
    model.save(tmp_path / "assays.safetensors")
    loaded = load_model(tmp_path / "assays.safetensors")
    assert loaded.hidden is None and isinstance(loaded.fitted_.energy.hidden, FactorUnits)
    np.testing.assert_array_equal(loaded.transform(data), model.transform(data))
    with pytest.raises(AttributeError) as refusal:
        model.partial_fit(data)
    assert "partial_fit needs the Stochastic() driver; got Spectral" in str(refusal.value.__cause__)
    again = Harmonium(4, warm_start=True, random_state=0).fit(data).fit(data)
    assert isinstance(again.fitted_.energy.hidden, FactorUnits)
    assert isinstance(layer(data), FactorUnits)
    # anything else is fitted by its own default
    assert isinstance(model.fit(RNA).fitted_.energy.hidden, BernoulliUnits)
    model.partial_fit(RNA)


def test_stability_and_folders_take_the_same_layer(tmp_path: Path) -> None:
    data = assays(rna=RNA, mutations=MUTATIONS)
    model = Harmonium(4, random_state=0).fit(data)
    named = Harmonium(4, hidden="factor", driver=Spectral(), random_state=0).fit(data)
    np.testing.assert_array_equal(
        bootstrap_stability(model, data, n_resamples=2, random_state=0),
        bootstrap_stability(named, data, n_resamples=2, random_state=0),
    )
    folder = fit_folder(tmp_path / "assays", Harmonium(4, random_state=0), data)
    np.testing.assert_array_equal(folder.model.transform(data), model.transform(data))
