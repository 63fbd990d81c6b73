"""Pasted objects: proposals find rectangles, pastes lie where they are said to lie, and splits are tested rightly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from benchmarks.features.proposals import adjacent, described, merged, proposals
from benchmarks.prepared import pasted
from benchmarks.prepared.pasted_windows import Detected
from benchmarks.prepared.shapes_windows import nearest
from benchmarks.weak_pasted import corrected_p, paired_p


def picture() -> np.ndarray:
    """Return two rectangles on a plain ground."""
    image = np.full((96, 128), 0.2)
    image[20:60, 30:70] = 0.9
    image[50:90, 90:120] = 0.6
    return image


def test_proposals_hold_the_rectangles_of_a_picture() -> None:
    boxes = proposals(picture())
    assert nearest(np.array([[20, 30, 60, 70], [50, 90, 90, 120]]), boxes).min() > 0.85
    assert boxes[0].tolist() == [0, 0, 96, 128]
    assert len(np.unique(boxes, axis=0)) == len(boxes) > 2
    assert (boxes[:, 2:] - boxes[:, :2]).min() >= 24 and len(proposals(picture(), most=2)) == 2


def test_merging_ends_with_the_whole_picture_after_one_merge_less_than_segments() -> None:
    noisy = np.clip(picture() + np.random.default_rng(0).normal(0, 0.2, (96, 128)), 0, 1)
    history = merged(noisy, 30)
    assert len(history) % 2 == 1 and len(history) > 5
    assert history[-1].tolist() == [0, 0, 96, 128]


def test_segments_are_described_and_joined_as_by_plain_loops() -> None:
    rng = np.random.default_rng(1)
    labels, image = np.repeat(np.repeat(np.arange(6).reshape(2, 3), 4, axis=0), 5, axis=1), rng.random((8, 15))
    sizes, histograms, boxes = described(image, labels)
    neighbours = adjacent(labels)
    for label in range(6):
        rows, columns = np.nonzero(labels == label)
        assert sizes[label] == len(rows) == 20
        assert boxes[label].tolist() == [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1]
        levels = np.bincount((image[labels == label] * 16).astype(int), minlength=16) / 20
        np.testing.assert_allclose(histograms[label][:16], levels)
        np.testing.assert_allclose(histograms[label][16:].sum(), 1)
        touching = {
            int(labels[r + down, c + right])
            for r, c in zip(rows, columns, strict=True)
            for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
            if 0 <= r + down < 8 and 0 <= c + right < 15
        }
        assert neighbours[label] == touching - {label}


def test_a_paste_changes_its_box_alone() -> None:
    rng = np.random.default_rng(2)
    canvas = np.zeros((pasted.SIDE, pasted.SIDE))
    top, left, bottom, right = pasted.paste(canvas, np.ones((40, 60)), rng)
    assert (bottom - top, right - left) == (40, 60)
    assert canvas[top + 5 : bottom - 5, left + 5 : right - 5].min() == 1
    assert 0 < canvas[top, left] < 1
    canvas[top:bottom, left:right] = 0
    assert not canvas.any()


def test_places_are_even_and_boxes_near_and_far_as_said() -> None:
    rng = np.random.default_rng(3)
    boxes = np.array([pasted.paste(np.zeros((192, 192)), np.ones((48, 64)), rng) for _ in range(2000)])
    np.testing.assert_allclose(boxes[:, :2].mean(axis=0), [72, 64], atol=3)
    np.testing.assert_allclose(boxes[:, :2].std(axis=0), [145 / 12**0.5, 129 / 12**0.5], rtol=0.05)
    painted = pasted.Canvases(boxes[:50], boxes[:50].astype(float), boxes[:50, 0], boxes[:50, 0] > 0, np.array(["a"]))
    for truth, found in zip(painted.boxes, Detected(3, 5).boxes_of(painted), strict=True):
        assert found.shape == (9, 4) and nearest(found[:1], truth[None])[0] > 0.6
        overlap = nearest(found[1:], found[:1])
        assert (overlap[:3] > 0.4).all() and (overlap[:3] < 0.7).all() and (overlap[3:] <= 0.2).all()


def test_the_corrected_test_is_the_paired_one_with_a_larger_variance() -> None:
    gaps = np.random.default_rng(4).normal(-0.5, 1, 12)
    assert paired_p(gaps) < corrected_p(gaps)
    statistic = ttest_1samp(gaps, 0).statistic
    # the same statistic shrinks by the root of (1/n + test/train) / (1/n)
    shrunk = gaps.mean() + (gaps - gaps.mean()) * np.sqrt((1 / 12 + 2 / 3) * 12)
    assert ttest_1samp(shrunk, 0).statistic == pytest.approx(statistic / np.sqrt(9))
    assert corrected_p(gaps) == pytest.approx(ttest_1samp(shrunk, 0).pvalue)
    assert all(a < b for a, b in itertools.pairwise([paired_p(gaps), corrected_p(gaps), 1.0]))
