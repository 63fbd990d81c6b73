"""Binary sources behind factors, compared with the sources they were made of."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.kernels.binary_sources import BinarySources, rarer_side
from harmonium.kernels.rotation import ica_rotation


def test_many_sources_are_told_apart_by_few_rows() -> None:
    """Thirty sources of 500 rows: independent components alone find some of them, EM all or nearly all."""
    rng = np.random.default_rng(0)
    usage = rng.uniform(0.1, 0.4, 30)
    has = rng.random((500, 30)) < usage
    scores = (has - usage) / np.sqrt(usage * (1 - usage)) @ np.linalg.qr(rng.normal(size=(30, 30)))[0]
    scores += rng.normal(0, 0.3, scores.shape)
    scores -= scores.mean(axis=0)
    rotation = ica_rotation(scores, rng)
    found = BinarySources(scores, rotation)
    assert n_matched(scores @ rotation.T, has) < 20
    presence = found.presence(scores)
    assert n_matched(presence, has) >= 22  # EM may end where a few sources are mixed with one another
    np.testing.assert_allclose(found.share, presence.mean(axis=0), atol=0.05)
    assert np.median(found.noise) == pytest.approx(0.3**2, abs=0.04)


def test_a_source_that_most_rows_have_is_turned() -> None:
    share, side = rarer_side(np.array([[0.0], [1.0], [1.0], [1.0], [1.0]]) / 0.4)
    np.testing.assert_allclose(share, 0.2)
    assert side[0] == -1


def n_matched(sources: np.ndarray, has: np.ndarray) -> int:
    agreement = np.abs(np.corrcoef(sources, has, rowvar=False)[: sources.shape[1], sources.shape[1] :])
    return int((agreement.max(axis=0) > 0.9).sum())
