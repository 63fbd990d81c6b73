"""Small fitted models to report on, and their hidden means by hand."""

from dataclasses import dataclass

import matplotlib
import numpy as np
from scipy.special import expit

from harmonium import IBP, Gaussian, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.core.parameters import HIDDEN_BIAS
from harmonium.hidden import GaussianUnits

matplotlib.use("Agg")  # figures need no screen
N_ROWS = 60


@dataclass
class Case:
    model: HarmoniumClassifier
    X: dict[str, np.ndarray]
    y: np.ndarray


def make_classifier(**settings):
    defaults = {"head": Hinge(C=1.0), "driver": Stochastic(max_iter=3), "validation_fraction": 0, "random_state": 0}
    return HarmoniumClassifier(n_components=3, **(defaults | settings))


def fit_case():
    rng = np.random.default_rng(0)
    numbers = np.arange(N_ROWS) % 3
    words = (rng.random((N_ROWS, 12)) < np.where(np.arange(12) // 4 == numbers[:, None], 0.6, 0.1)).astype(float)
    X = {"words": words, "colour": np.eye(3)[numbers] + rng.normal(size=(N_ROWS, 3))}
    y = np.array(["cars", "med", "space"])[numbers]
    return Case(make_classifier().fit(X, y), X, y)


def fit_gaussian(matrix, n_components=2, variance=0.3, **settings):
    model = Harmonium(
        n_components,
        views=[Gaussian(variance)],
        hidden=GaussianUnits(),
        driver=Stochastic(max_iter=40, learning_rate=0.05),
        **settings,
    )
    return model.set_params(random_state=0).fit([matrix])


def direct_means(model, X):
    parameters = model.fitted_.parameters
    colour = model.families_["colour"].codec.encode(X["colour"])
    return expit(
        parameters[HIDDEN_BIAS] + X["words"] @ parameters["words.weights"] + colour @ parameters["colour.weights"]
    )


def fit_selected():
    """A model that selects real units, which items have or lack, and its data."""
    rng = np.random.default_rng(0)
    has = rng.random((400, 3)) < 0.4
    X = (has * rng.normal(size=(400, 3)) * 2) @ rng.normal(size=(3, 12)) + rng.normal(size=(400, 12)) * 0.5
    hidden = IBP(truncation=6, kind="real")
    driver = Stochastic(batch_size=100, max_iter=30, learning_rate=0.02)
    return Harmonium(hidden=hidden, driver=driver, random_state=0).fit([X]), [X], has[:, 0].astype(int)
