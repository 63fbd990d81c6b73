"""Names of parameters say what the arrays are, and what hidden units are multiplied with."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.core.parameters import (
    HEAD_BIAS,
    HEAD_WEIGHTS,
    HIDDEN_BIAS,
    bias_of,
    couplings,
    extra_of,
    record,
    weights_of,
)


@pytest.mark.parametrize(
    ("name", "owner", "kind", "is_weights", "unit_axis"),
    [
        (weights_of("words"), "words", "weights", True, 1),
        (bias_of("words"), "words", "bias", False, None),
        (extra_of("words", "log_variance"), "words", "log_variance", False, None),
        (HIDDEN_BIAS, "hidden", "bias", False, 0),
        ("hidden.log_odds", "hidden", "log_odds", False, None),
        (HEAD_WEIGHTS, "head", "weights", True, 0),
        (HEAD_BIAS, "head", "bias", False, None),
        # names of views may have dots, and look like those of parts
        (weights_of("chr1.genes"), "chr1.genes", "weights", True, 1),
        (bias_of("a.weights"), "a.weights", "bias", False, None),
        (bias_of("a.hidden"), "a.hidden", "bias", False, None),
    ],
)
def test_a_name_says_what_the_array_is(
    name: str, owner: str, kind: str, is_weights: bool, unit_axis: int | None
) -> None:
    found = record(name)
    assert (found.owner, found.kind) == (owner, kind)
    assert found.is_weights is is_weights and found.unit_axis == unit_axis


def test_couplings_are_those_of_views_and_head() -> None:
    rng = np.random.default_rng(0)
    shapes = {
        HIDDEN_BIAS: (3,),
        weights_of("a.b"): (5, 3),
        bias_of("a.b"): (5,),
        extra_of("a.b", "log_variance"): (5,),
        weights_of("c"): (3, 3),  # the shape does not say which side is which
        bias_of("c"): (3,),
        "hidden.log_odds": (3,),
        HEAD_WEIGHTS: (3, 2),
        HEAD_BIAS: (2,),
    }
    parameters = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    before = {name: value.copy() for name, value in parameters.items()}
    found = list(couplings(parameters))
    expected = [
        (before[weights_of("a.b")].T, before[bias_of("a.b")]),
        (before[weights_of("c")].T, before[bias_of("c")]),
        (before[HEAD_WEIGHTS], before[HEAD_BIAS]),
    ]
    assert len(found) == 3
    for (weights, bias), (right_weights, right_bias) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(weights, right_weights)
        np.testing.assert_array_equal(bias, right_bias)
        # what is done to them is done to the model
        weights[1] = 0
        bias += 1
    for name in (weights_of("a.b"), weights_of("c")):
        assert not parameters[name][:, 1].any() and parameters[name][:, [0, 2]].all()
    assert not parameters[HEAD_WEIGHTS][1].any() and parameters[HEAD_WEIGHTS][[0, 2]].all()
    for name in (bias_of("a.b"), bias_of("c"), HEAD_BIAS):
        np.testing.assert_array_equal(parameters[name], before[name] + 1)
    for name in (HIDDEN_BIAS, extra_of("a.b", "log_variance"), "hidden.log_odds"):
        np.testing.assert_array_equal(parameters[name], before[name])


def test_a_model_without_a_head_has_the_couplings_of_its_views() -> None:
    parameters = {HIDDEN_BIAS: np.zeros(2), weights_of("x"): np.ones((4, 2)), bias_of("x"): np.zeros(4)}
    ((weights, bias),) = couplings(parameters)
    assert weights.shape == (2, 4) and bias is parameters[bias_of("x")]
