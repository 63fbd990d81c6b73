"""Units that grow where something is predicted: topics by the views alone, dimensions if the loss needs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from harmonium import IBP, Gaussian, HarmoniumClassifier, Hinge
from harmonium.energy import Energy
from harmonium.training.growth.prune import Selected
from harmonium.training.supervised.choices import held_out_folds, hidden_means
from harmonium.training.supervised.growing import needs_dimensions, with_dimensions
from harmonium.views import Views
from harmonium.views.data import Data
from tests.cases.heads import labelled
from tests.cases.selection import HAS, X, classes_of, quick, select


@pytest.mark.parametrize("kind", ["binary", "real"])
def test_labels_do_not_change_how_many_topics_there_are(kind: Literal["binary", "real"]) -> None:
    rng = np.random.default_rng(0)
    has = (rng.random((900, 6)) < 0.3) * (1.0 if kind == "binary" else rng.normal(size=(900, 6)))
    data = has @ (8 * np.linalg.qr(rng.normal(size=(40, 6)))[0].T) + rng.normal(size=(900, 40))
    y = (has @ rng.normal(size=(6, 3))).argmax(axis=1)
    head = Hinge(linear_part=False)
    model = HarmoniumClassifier(hidden=IBP(truncation=30, kind=kind), head=head, views=Gaussian(), random_state=0)
    model.fit(data[:600], y[:600])
    assert model.n_components_ == 6
    assert model.score(data[600:], y[600:]) > 0.75


def test_what_no_topic_shows_is_left_to_dimensions() -> None:
    """One of many independent columns says the class: nothing stands out for topics, and the loss needs a unit."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(600, 12))
    y = (data[:, 3] > 0).astype(int)
    head = Hinge(linear_part=False)
    model = HarmoniumClassifier(hidden=IBP(truncation=40), head=head, views=Gaussian(), random_state=0)
    assert model.fit(data[:400], y[:400]).score(data[400:], y[400:]) > 0.9


@pytest.mark.parametrize("kind", ["binary", "real"])
@pytest.mark.parametrize("n_dimensions", [0, 5])
def test_dimensions_leave_topics_and_views_as_they_are(kind: Literal["binary", "real"], n_dimensions: int) -> None:
    model = quick(layer={"kind": kind}).fit(X).fitted_
    head = Hinge().bind(labelled("class", classes_of(HAS)[:, None], [4]))
    problem = replace(model.problem, energy=Energy(model.energy.families, IBP(kind=kind).bind(20)), head=head)
    topics, data = Selected(model.problem, model.parameters, model.usage, 3), Data(Views({"view0": X}))
    parameters = with_dimensions(problem, topics, data, n_dimensions, np.random.default_rng(0))
    energy = Energy(model.energy.families, IBP(kind=kind).restore(model.n_units + n_dimensions))
    before, after = (
        hidden_means(replace(problem, energy=one), data, of)
        for one, of in ((model.energy, model.parameters), (energy, parameters))
    )
    assert after.shape == (300, model.n_units + n_dimensions)
    # real units have no bias that could make up for a prior of more units
    np.testing.assert_allclose(after[:, : model.n_units], before, atol=1e-3 if kind == "binary" else 0.05)
    new = after[:, model.n_units :]
    if kind == "binary":
        np.testing.assert_allclose(new.mean(axis=0), 0.5, atol=1e-3)
    learned, added = model.parameters["view0.bias"], parameters["view0.weights"][:, model.n_units :] @ new.mean(axis=0)
    np.testing.assert_allclose(parameters["view0.bias"] + added, learned, atol=1e-3)


def test_held_out_rows_say_whether_topics_are_enough() -> None:
    model, noise = select().fitted_, np.random.default_rng(0)
    for y, needed in ((classes_of(HAS), False), ((X[:, 0] - HAS @ noise.normal(size=3) > 0).astype(int), True)):
        labels = labelled("class", y[:, None], [int(y.max()) + 1])
        head = Hinge().bind(labels)
        problem, data = replace(model.problem, head=head), Data(Views({"view0": X}), head.targets(labels))
        topics = Selected(model.problem, model.parameters, model.usage, 3)
        folds = held_out_folds(head.targets(labels), 0.2, noise)
        assert needs_dimensions(problem, topics, data, folds) is needed
        assert needs_dimensions(problem, topics, data, [])
