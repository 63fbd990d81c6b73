"""Pictures of the demo; they need the extra ``plot``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import AbstractPathEffect, withStroke
from sklearn.manifold import TSNE


def draw_topics(weights: np.ndarray, path: Path, side: int = 8) -> None:
    """Draw the pixel weights of each topic as a small picture, the strongest topic first.

    Counting a topic up from 0 or down from M gives the same model (h and M - h), so the sign of a topic is arbitrary.
    Each is shown with its strongest weight positive, on a scale of its own.

    Parameters
    ----------
    weights : ndarray of shape (n_pixels, n_topics)
        Weights of the pixels of a square image, row by row.
    path : Path
        File of the picture.
    side : int, default=8
        Width and height of the image.
    """
    order = np.argsort(-np.linalg.norm(weights, axis=0), kind="stable")
    columns = int(np.ceil(np.sqrt(len(order))))
    rows = -(-len(order) // columns)
    figure = Figure(figsize=(columns, rows + 0.9), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, topic in zip(axes.flat, order, strict=False):
        strongest = weights[np.argmax(np.abs(weights[:, topic])), topic]
        shown = weights[:, topic].reshape(side, side) / (strongest or 1.0)
        picture = axis.imshow(shown, cmap="RdBu_r", vmin=-1, vmax=1)
        axis.set_title(f"{topic}", fontsize=7, pad=2)
    figure.colorbar(
        picture,
        ax=axes,
        orientation="horizontal",
        shrink=0.5,
        aspect=40,
        label="weight times spread of the pixel, strongest = 1",
    )
    figure.suptitle("Topics: where there is ink (red) and where there is none (blue)")
    figure.savefig(path, dpi=130)


def draw_map(latent: np.ndarray, labels: np.ndarray, path: Path, seed: int) -> None:
    """Draw a map of latent coordinates by t-SNE, coloured by label.

    Parameters
    ----------
    latent : ndarray of shape (n_items, n_topics)
        Latent coordinates.
    labels : ndarray of shape (n_items,)
        Classes, which decide the colours only.
    path : Path
        File of the picture.
    seed : int
        Seed of t-SNE.
    """
    perplexity = min(30.0, len(latent) / 4)
    embedding = TSNE(2, init="pca", perplexity=perplexity, max_iter=500, random_state=seed).fit_transform(latent)
    figure = Figure(figsize=(8, 6.5), layout="constrained")
    axis = figure.subplots()
    outline: list[AbstractPathEffect] = [withStroke(linewidth=4, foreground="white")]
    for number, label in enumerate(np.unique(labels)):
        points = embedding[labels == label]
        axis.scatter(points[:, 0], points[:, 1], s=9, color=f"C{number % 10}", label=str(label), linewidths=0)
        # at the item nearest to the median, because the median of a cluster in two pieces may lie in neither
        x, y = points[np.argmin(np.abs(points - np.median(points, axis=0)).sum(axis=1))]
        axis.text(x, y, str(label), fontsize=18, weight="bold", ha="center", va="center").set_path_effects(outline)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_title("Digits in the latent space (t-SNE; the model saw no labels)")
    axis.legend(title="digit", loc="center left", bbox_to_anchor=(1.0, 0.5), markerscale=2.5)
    figure.savefig(path, dpi=130)
