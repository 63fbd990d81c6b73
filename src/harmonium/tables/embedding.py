"""Embeddings of columns of texts or pictures: views beside those that a role makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from harmonium.core.validation import few_of
from harmonium.exceptions import InvalidViewError
from harmonium.families import Gaussian
from harmonium.features.encoders import Encoder, EncoderIdentity, as_encoder
from harmonium.features.images import decoded_image
from harmonium.tables.base import Block, Reader
from harmonium.tables.column import Column

#: what `TableViews` may be given: encoders by column, or one for all columns of texts
Embed = Mapping[str, Any] | Any


@dataclass(frozen=True)
class Embedding:
    """The embedding of a column, and what made it.

    Attributes
    ----------
    view : str
        Name of the view.
    of_pictures : bool
        Whether values are pictures; otherwise they are texts.
    identity : EncoderIdentity
        What tells the encoder from others.
    encoder : Encoder, optional
        The encoder itself, which files do not keep.
    """

    view: str
    of_pictures: bool
    identity: EncoderIdentity
    encoder: Encoder | None = None

    @classmethod
    def made_by(cls, encoder: Encoder, view: str, reader: Reader) -> Self:
        """Return the embedding that an encoder makes of what a reader reads."""
        return cls(view, reader.takes_pictures, encoder.identity(reader.takes_pictures), encoder)

    def with_encoder(self, column: str, encoder: Encoder) -> Self:
        """Return a copy that has an encoder; refuse another than the one that the model was fitted with."""
        found = encoder.identity(self.of_pictures)
        if not self.identity.is_same(found):
            raise InvalidViewError(
                f"Column {column!r} must be embedded by the encoder that the model was fitted with, {self.identity}; "
                f"got {found}; pass the same one, or fit again."
            )
        if self.encoder is not None:
            encoder.learn_from(self.encoder)
        return replace(self, encoder=encoder)

    @property
    def takes_new(self) -> bool:
        """Whether new values can be encoded."""
        return self.encoder is not None and self.encoder.takes_new

    def read(self, column: Column) -> Block:
        """Return the embedding of a column; rows without a value lack it."""
        values = self.values(column)
        there = [row for row, value in enumerate(values) if value is not None]
        matrix = np.full((len(values), self.identity.dimension), np.nan, dtype=np.float32)
        if there:
            if self.encoder is None:
                raise InvalidViewError(
                    f"Column {column.name!r} is embedded by {self.identity}, which a model file does not hold; no "
                    "encoder was given; pass it to load(path, encoders=...), or as --embed."
                )
            matrix[there] = self.encoder([values[row] for row in there])
        names = [f"{self.view}_{number}" for number in range(self.identity.dimension)]
        return Block(matrix, names, Gaussian(), self.view)

    def values(self, column: Column) -> list[Any]:
        """Return what is encoded of each row: texts, or pictures as arrays; None where they are missing."""
        if self.of_pictures:
            return [None if value is None else _picture(value) for value in column.values]
        if column.kind == "list":
            return [None if parts is None else " ".join(map(str, parts)) for parts in column.lists]
        return list(column.texts)

    def facts(self) -> dict[str, Any]:
        """Return what files keep: everything but the encoder itself."""
        return {"view": self.view, "of_pictures": self.of_pictures, "identity": self.identity.facts()}

    @classmethod
    def restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return what `facts` described; raise a ValueError if it is no such thing."""
        return cls(str(facts["view"]), bool(facts["of_pictures"]), EncoderIdentity.restored(facts["identity"]))

    def __getstate__(self) -> dict[str, Any]:
        # processes that get rows do not read tables, and encoders may be large
        return {**self.__dict__, "encoder": None}


class Encoders:
    """The encoders of a `TableViews`, made of what it was given; clones share them, and what they remember."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Encoder]] = {}

    def by_column(self, embed: Embed | None, columns: Mapping[str, Reader]) -> dict[str, Encoder]:
        """Return the encoder of each column that has one; refuse columns that there are not."""
        if embed is not None and not isinstance(embed, Mapping):
            embed = {name: embed for name, reader in columns.items() if reader.reads_texts}
        check_columns(embed or {}, list(columns))
        return {str(name): self._encoder(value) for name, value in (embed or {}).items()}

    def all_of(self, embed: Embed | None) -> list[Encoder]:
        """Return the different encoders."""
        values = embed.values() if isinstance(embed, Mapping) else [] if embed is None else [embed]
        return list(dict.fromkeys(map(self._encoder, values)))

    def _encoder(self, value: Any) -> Encoder:
        """Return the encoder of what was given; the same for the same."""
        given, encoder = self._made.get(id(value), (None, None))
        if encoder is None or given is not value:
            encoder = as_encoder(value)
            self._made[id(value)] = (value, encoder)
        return encoder

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Encoders:
        return self


def check_columns(embed: Mapping[str, Any], known: list[str]) -> None:
    """Refuse encoders of columns that there are not."""
    lacking = [str(name) for name in embed if str(name) not in known]
    if lacking:
        raise InvalidViewError(f"Encoders belong to columns ({few_of(known)}); got {lacking[0]!r}; correct the name.")


def _picture(value: Any) -> np.ndarray:
    return decoded_image(value) if isinstance(value, bytes) else np.asarray(value)
