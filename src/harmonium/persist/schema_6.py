"""Facts of a model in files of schema 6, those of version 0.2.0, as files have them now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_RELEVANCE = "relevance/"


def upgraded(facts: dict[str, Any], tensors: Iterable[str]) -> dict[str, Any]:
    """Return the facts of a model by the names and in the form of schema 7; a missing one is a KeyError.

    Parameters
    ----------
    facts : dict
        What a file of schema 6 has under ``fitted``.
    tensors : iterable of str
        Names of the tensors in the file.

    Returns
    -------
    dict
        What a file of schema 7 would have there.
    """
    facts, tensors = dict(facts), set(tensors)
    log = {name: facts.pop(name) for name in ("n_iter", "history", "stopped")}
    targets = facts.pop("targets")
    return facts | {
        "log": {"kind": "TrainingLog", "fields": log},
        "meaning": None if targets is None else {"kind": "TargetSpec", "fields": dict(targets["mapping"])},
        "baseline_nll": facts.pop("nats"),
        "remarks": {"tuple": facts["remarks"]},
        "usage": _tensor("usage") if "usage" in tensors else None,
        "relevance": {
            "mapping": [[n.removeprefix(_RELEVANCE), _tensor(n)] for n in sorted(tensors) if n.startswith(_RELEVANCE)]
        },
    }


def _tensor(name: str) -> dict[str, Any]:
    return {"tensor": name, "transposed": False}
