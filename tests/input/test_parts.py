"""Parts that do not go together, and bad settings of them, are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harmonium import LBFGS, Categorical, Gaussian, Poisson, Stochastic
from harmonium.exceptions import IncompatiblePartsError
from harmonium.families import Binomial, Family, NegativeBinomial
from harmonium.hidden import BinomialUnits, GaussianUnits
from harmonium.objectives import MeanFieldCD, PersistentCD, SampledCD
from tests.cases.bad_input import N_ROWS, assert_unchanged, binary, quick, real, refuse_fit, snapshot


@pytest.mark.parametrize("family", [Poisson(), NegativeBinomial()], ids=str)
def test_what_cannot_be_normalised_is_refused(family: Family) -> None:
    model = quick(hidden=GaussianUnits(), views={"a": family})
    pattern = f"View 'a' is {type(family).__name__} and cannot be normalised with GaussianUnits"
    refuse_fit(model, {"a": binary()}, IncompatiblePartsError, pattern)


PART_REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"hidden": GaussianUnits(n_units=0)}, "GaussianUnits needs a whole number n_units >= 1; got 0"),
    ({"hidden": GaussianUnits(n_units=2.5)}, "n_units >= 1; got 2.5"),  # type: ignore[arg-type]
    ({"hidden": GaussianUnits(variance=-1)}, "variance > 0; got -1"),
    ({"hidden": GaussianUnits(variance="big")}, "variance > 0; got 'big'"),  # type: ignore[arg-type]
    ({"hidden": BinomialUnits(M=0)}, "BinomialUnits needs a whole number M >= 1; got 0"),
    ({"hidden": BinomialUnits(M=[3, 0])}, r"BinomialUnits needs a whole number M\[1\] >= 1; got 0"),
    ({"hidden": BinomialUnits(M=[])}, r"a row of one for each unit; got \[\]; pass for example \[1, 1, 5\]"),
    ({"hidden": BinomialUnits(M=[3, 1], n_units=3)}, "an M for each of its 3 units; got 2; leave out n_units"),
    ({"views": Gaussian(variance=0)}, "variance > 0; got 0"),
    ({"views": Gaussian(variance=None)}, "variance > 0; got None"),  # type: ignore[arg-type]
    ({"views": Binomial(n=0.5)}, "Binomial needs"),  # type: ignore[arg-type]
    ({"views": NegativeBinomial(r=np.nan)}, r"r > 0 and <= 1e\+09; got nan"),
    ({"views": Categorical([2, 2])}, "n_categories"),
    ({"views": Categorical("many")}, "n_categories"),  # type: ignore[arg-type]
    ({"objective": SampledCD(n_steps=0)}, "SampledCD needs a whole number n_steps >= 1; got 0"),
    ({"objective": PersistentCD(n_steps="one")}, "n_steps >= 1; got 'one'"),  # type: ignore[arg-type]
    ({"objective": MeanFieldCD(n_steps=None)}, "n_steps >= 1; got None"),  # type: ignore[arg-type]
    ({"driver": Stochastic(max_iter=0)}, "max_iter >= 1; got 0"),
    ({"driver": Stochastic(batch_size="all")}, "a number batch_size > 0; got 'all'"),  # type: ignore[arg-type]
    ({"driver": Stochastic(learning_rate=0)}, "learning_rate > 0; got 0"),
    ({"driver": Stochastic(learning_rate=np.nan)}, "learning_rate > 0; got nan"),
    ({"driver": Stochastic(weight_decay=-1)}, "weight_decay >= 0; got -1"),
    ({"driver": Stochastic(schedule="never")}, "Stochastic needs schedule 'constant', 'linear' or 'inverse'"),  # type: ignore[arg-type]
    ({"driver": Stochastic(early_stopping=True)}, "early_stopping None, 'reconstruction' or 'free_energy_gap'"),  # type: ignore[arg-type]
    ({"driver": Stochastic(stopping_fraction=1)}, "stopping_fraction > 0 and < 1; got 1"),
    ({"driver": Stochastic(patience=0)}, "patience >= 1"),
    ({"driver": Stochastic(optimizer="newton")}, "optimizer to be 'adam' or 'momentum', or an Optimizer"),
    ({"driver": Stochastic(optimizer=3)}, "optimizer to be an Optimizer or None"),  # type: ignore[arg-type]
    ({"driver": LBFGS(max_iter=0), "objective": MeanFieldCD()}, "LBFGS needs a whole number max_iter >= 1; got 0"),
    ({"driver": LBFGS(batch_size=0), "objective": MeanFieldCD()}, "batch_size >= 1; got 0"),
    ({"driver": LBFGS()}, "LBFGS needs an objective with a loss; SampledCD"),
    ({"n_jobs": 0}, "n_jobs 1 or more, -1 for all"),
]


@pytest.mark.parametrize(("parameters", "pattern"), PART_REFUSALS, ids=lambda value: str(value)[:50])
def test_settings_of_parts_are_checked(parameters: dict[str, Any], pattern: str) -> None:
    refuse_fit(quick(**parameters), np.zeros((N_ROWS, 1)), Exception, pattern)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_components": 0},
        {"n_components": 2.5},
        {"views": 3},
        {"hidden": BinomialUnits},
        {"hidden": "gauss"},
        {"hidden": 3},
        {"objective": "gradient"},
        {"driver": "adam"},
        {"output": "means"},
        {"warm_start": "yes"},
        {"random_state": "seed"},
        {"n_jobs": 1.5},
        {"verbose": "loud"},
    ],
    ids=str,
)
def test_wrong_kinds_of_parameters(parameters: dict[str, Any]) -> None:
    model = quick(**parameters)
    before = snapshot(model)
    for method in ("fit", "partial_fit"):
        with pytest.raises((TypeError, ValueError), match=f"^Harmonium needs .*{next(iter(parameters))} .*; got .*; "):
            getattr(model, method)(real())
        assert_unchanged(model, before)
