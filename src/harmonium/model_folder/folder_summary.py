"""The summary of a model folder as one dict that JSON can hold: the one source of reports and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harmonium._version import __version__
from harmonium.model_folder.json_values import json_records, json_value
from harmonium.queries.named_views import named_views
from harmonium.queries.topics.features import typical_rows
from harmonium.queries.topics.labels import topic_labels
from harmonium.queries.topics.shown import of_topics

if TYPE_CHECKING:
    from harmonium.model_folder.folder import ModelFolder


def folder_summary(folder: ModelFolder, n_features: int, n_items: int) -> dict[str, Any]:
    """Return the summary of a folder; see `ModelFolder.summary`."""
    model = folder.model
    return {
        "library_version": __version__,
        "model": model_summary(model),
        "items": {"n": len(folder), "columns": folder.items.columns.tolist()},
        "columns": json_records(model.views_.reset_index()) if model.fitted_.table is not None else [],
        "views": [
            {
                "view": name,
                "family": type(family).__name__,
                "columns": int(family.codec.n_columns),
                "features": int(family.n_features_),
                "missing": json_value(model.fitted_.missing.get(name)),
                "weight": json_value(model.fitted_.view_weights.get(name)),
            }
            for name, family in model.families_.items()
        ],
        "target": target_summary(folder),
        "scores": folder.scores,
        "topics": topic_summaries(folder, n_features, n_items),
        "notes": folder.notes,
    }


def model_summary(model: Any) -> dict[str, Any]:
    """Return the summary of a model, as JSON can hold it.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.

    Returns
    -------
    dict
        Estimator, hidden layer, number of topics, epochs, why training ended, and remarks.
    """
    return {
        "estimator": type(model).__name__,
        "hidden": repr(model.fitted_.energy.hidden),
        "head": None if model.fitted_.head is None else repr(model.fitted_.head),
        "n_topics": int(model.n_topics_),
        "n_epochs": int(model.n_iter_),
        "stopped": model.fitted_.training.log.stopped,
        "seed": json_value(model.random_state),
        "remarks": [*([] if model.fitted_.account is None else [model.fitted_.account]), *model.fitted_.remarks],
    }


def target_summary(folder: ModelFolder) -> dict[str, Any] | None:
    """Return what is predicted: its columns, kind and classes; None if nothing is."""
    meaning = folder.model.fitted_.meaning
    if meaning is None:
        return None
    names = list(meaning.names or (folder.target.columns if folder.target is not None else ()))
    return {
        "columns": [] if folder.target is None else folder.target.columns.tolist(),
        "kind": meaning.kind,
        "names": [str(name) for name in names],
        "classes": [json_value(classes) for classes in meaning.classes] if meaning.kind == "class" else [],
    }


def topic_summaries(folder: ModelFolder, n_features: int, n_items: int) -> list[dict[str, Any]]:
    """Return what each topic is about: its features by view, its share, and its most typical items.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    n_features : int
        Number of features of each view.
    n_items : int
        Number of items.

    Returns
    -------
    list of dict
        A dict for each topic: ``topic``, ``label``, ``features`` (names by view; views whose columns have several
        statistics have an entry for each), ``mean`` and ``spread`` of E[h | x] over the items, ``stability`` (None if
        it was not found out), ``items`` (row numbers, the most typical first), and ``effects``, by which the topic
        moves each score for one standard deviation of its units.
    """
    model, coordinates = folder.model, folder.topic_coordinates.astype(np.float64)
    hidden = set(model.fitted_.input_names) - set(named_views(model.fitted_))
    listed = [view for view in model.families_ if view in model.fitted_.feature_names and view not in hidden]
    features = {view: model.topics(view, n=n_features) for view in listed}
    labels = topic_labels(model.fitted_)
    spread = coordinates.std(axis=0)
    effects = None
    if model.fitted_.head is not None:
        moved = model.fitted_.head.coefficients(model.fitted_.parameters) * folder.coordinates.std(axis=0, dtype=float)
        effects = of_topics(model.fitted_, moved)
    stability = folder.topic_stability
    typical = typical_rows(coordinates, n_items)
    return [
        {
            "topic": topic.number,
            "label": labels[place],
            "features": {
                name: [str(feature) for feature in listed]
                for view in features
                for name, listed in _lists(features[view], view, place)
            },
            "mean": float(coordinates[:, place].mean()),
            "spread": float(spread[place]),
            "stability": None if stability is None else round(float(stability[place]), 3),
            "items": typical[place].tolist(),
            "effects": None if effects is None else json_value(effects[:, place]),
        }
        for place, topic in enumerate(model.fitted_.topics)
    ]


def _lists(table: Any, view: str, place: int) -> list[tuple[str, list[str]]]:
    """Return the features of a topic; those of views with several groups of them under names of their own."""
    row = table.iloc[place]
    if table.columns.nlevels == 1:
        return [(view, [str(name) for name in row])]
    return [
        (f"{view} ({group})", [str(name) for name in row[group]])
        for group in table.columns.get_level_values(0).unique()
    ]
