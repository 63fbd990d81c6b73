"""AnnData and MuData: alone, within a dict, and by the keys of their layers and tables."""

from __future__ import annotations

from pathlib import Path

import anndata
import mudata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import cross_val_score

from harmonium import Gaussian, HarmoniumClassifier, Poisson, Stochastic, Views
from harmonium.exceptions import InvalidViewError
from tests.cases.bad_input import quick, real, refuse, refuse_fit

CELLS = [f"cell_{i}" for i in range(30)]
GENES = ["CD3E", "CD19", "NKG7", "LYZ"]
COUNTS = np.random.default_rng(0).poisson(0.5, size=(30, 4))  # zeros enough to be kept sparse


def cells() -> anndata.AnnData:
    return anndata.AnnData(
        np.log1p(COUNTS.astype(np.float32)),
        obs=pd.DataFrame({"age": np.arange(30.0), "batch": ["x", "y"] * 15}, index=CELLS),
        var=pd.DataFrame(index=GENES),
        layers={"counts": scipy.sparse.csr_matrix(COUNTS)},
        obsm={"protein": pd.DataFrame(real(2), index=CELLS, columns=["CD3", "CD19"]), "X_pca": real(3)},
    )


def test_within_a_dict_anndata_is_a_view_with_names() -> None:
    model = quick().fit({"rna": cells(), "protein": real(2)})
    assert model.fitted_.feature_names == {"rna": GENES, "protein": ["protein_0", "protein_1"]}
    assert list(quick().fit([cells(), real(2)]).families_) == ["view0", "view1"]


def test_keys_become_views() -> None:
    views = Views.from_anndata(cells(), layers=["X", "counts"], obsm=["protein", "X_pca"], obs=["age"])
    assert views.names == ["X", "counts", "protein", "X_pca", "obs"]
    assert views.index is not None and views.index.tolist() == CELLS
    assert [views.source(name).columns for name in views.names] == [GENES, GENES, ["CD3", "CD19"], None, ["age"]]
    assert views.source("counts").is_sparse
    model = quick().fit(Views.from_anndata(cells(), layers=["counts"], obsm=["protein"]))
    assert {name: type(family) for name, family in model.families_.items()} == {"counts": Poisson, "protein": Gaussian}
    assert Views.from_anndata(cells(), layers=[], obsm=["X_pca"]).names == ["X_pca"]


def test_keys_that_are_not_there_are_refused() -> None:
    data = cells()
    refuse(
        lambda: Views.from_anndata(data, layers=["logcounts"]),
        InvalidViewError,
        r"layers may only name what the data have \('X', 'counts'\); got 'logcounts'",
    )
    refuse(lambda: Views.from_anndata(data, obsm=["atac"]), InvalidViewError, "obsm may only name")
    refuse(lambda: Views.from_anndata(data, obs=["sex"]), InvalidViewError, "obs may only name")
    refuse(lambda: Views.from_anndata(data, obsm="protein"), TypeError, "list of keys as obsm; got 'protein'")
    data.obsm["counts"] = real(2)
    refuse(
        lambda: Views.from_anndata(data, layers=["counts"], obsm=["counts"]),
        InvalidViewError,
        "must have keys that differ",
    )


def test_data_without_a_matrix_are_refused() -> None:
    empty = anndata.AnnData(obs=pd.DataFrame(index=CELLS))
    refuse_fit(quick(), empty, InvalidViewError, "AnnData needs its matrix X .* name layers, obsm or obs")
    refuse_fit(quick(), {"rna": empty}, InvalidViewError, "AnnData needs its matrix X")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:Cannot join columns:UserWarning")
def test_modalities_that_lack_rows() -> None:
    """A modality lacks some cells, and all lack others after a subset: missing there, and no reason to refuse."""
    both = mudata.MuData({"rna": cells()[:25].copy(), "other": cells()[10:].copy()})
    model = quick().fit(both)
    latent = model.set_output(transform="pandas").transform(both)
    assert latent.index.tolist() == both.obs_names.tolist() and np.isfinite(latent.to_numpy()).all()
    assert (Views({"rna": cells()}).index == CELLS).all()
    refuse(
        lambda: Views({"both": both}), InvalidViewError, r"View 'both' must be one matrix; got MuData.*mdata\['rna'\]"
    )


def test_backed_files_are_read(tmp_path: Path) -> None:
    cells().write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    expected = quick().fit({"rna": cells(), "protein": real(2)}).components_
    np.testing.assert_array_equal(quick().fit({"rna": backed, "protein": real(2)}).components_, expected)


def test_cross_validation_of_anndata() -> None:
    y = pd.Series((COUNTS[:, 0] > 0).astype(int), index=CELLS)
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=3), random_state=0)
    views = Views.from_anndata(cells())
    np.testing.assert_array_equal(cross_val_score(model, cells(), y, cv=2), cross_val_score(model, views, y, cv=2))
