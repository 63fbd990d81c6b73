"""Encoders of fitted models, which files do not hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from harmonium.core.validation import check_fitted
from harmonium.estimators import Harmonium, HarmoniumMultiOutput

Model = TypeVar("Model", Harmonium, HarmoniumMultiOutput)


def set_encoders(model: Model, encoders: Any) -> Model:
    """Give a loaded model the encoders of its columns, which files do not hold.

    Parameters
    ----------
    model : Harmonium or HarmoniumMultiOutput
        A fitted model of a table, some columns of which have an embedding.
    encoders : mapping of str to object, or object
        Encoders by column, or one for all columns that have an embedding: whatever `TableViews` takes as ``embed``.

    Returns
    -------
    Harmonium
        The same model, which reads new texts and pictures by them.

    Raises
    ------
    InvalidViewError
        If an encoder is not the one that the model was fitted with; the model stays as it is.

    See Also
    --------
    harmonium.load : Takes encoders at once.

    Examples
    --------
    >>> import pandas as pd
    >>> from harmonium import Harmonium, Stochastic, TableViews
    >>> def letters(texts):
    ...     return [[text.count(letter) for letter in "aeiou"] for text in texts]
    >>> frame = pd.DataFrame({"note": ["a red wine", "a white wine", "red fruit", "white peach"] * 5})
    >>> table = TableViews({"note": "words"}, embed={"note": letters})
    >>> model = Harmonium(2, views=table, driver=Stochastic(max_iter=2), random_state=0).fit(frame)
    >>> list(set_encoders(model, {"note": letters}).families_)
    ['note', 'note_embedding']
    """
    check_fitted(model)
    models = list(getattr(model, "estimators_", {"": model}).values())  # one for each target, or the model itself
    tables: list[Any] = [getattr(one.fitted_, "table", None) for one in models]
    if None in tables:
        raise ValueError(
            "Encoders belong to columns of a table; the model was fitted on matrices; pass embeddings as views."
        )
    has_some = any(table.embeddings for table in tables)
    made = [table.with_encoders(encoders) if table.embeddings or not has_some else table for table in tables]
    for one, table in zip(models, made, strict=True):
        one.fitted_ = replace(one.fitted_, table=table)
    return model
