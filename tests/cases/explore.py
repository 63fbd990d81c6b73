"""A small model folder with words, tags, numbers, pictures and held-out rows, for tests of reports and the explorer."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import harmonium
from harmonium import HarmoniumClassifier, ModelFolder, Stochastic, TableViews
from harmonium.evaluation import HeldOut
from harmonium.model_folder import Thumbnails

#: what a reader of the page must never run
SCRIPT = "<script>alert('review')</script>"
WORDS = {"bad": "dirty rude noisy broken stain cold", "good": "clean friendly quiet bright breakfast view"}


def small_table(n: int = 80) -> pd.DataFrame:
    """Two kinds of items, each with words, tags and prices of its own; the first review holds a script."""
    rng = np.random.default_rng(0)
    kind = np.array(["bad", "good"])[np.arange(n) % 2]
    texts = [" ".join(rng.choice(WORDS[name].split(), 5)) for name in kind]
    texts[0] = f"{SCRIPT} {texts[0]}"
    return pd.DataFrame(
        {
            "review": texts,
            "tags": [{"bad": "cheap|old", "good": "dear|new"}[name] for name in kind],
            "price": 50 + 40 * (kind == "good") + rng.normal(size=n),
            "kind": kind,
        }
    )


def small_model(table: pd.DataFrame) -> HarmoniumClassifier:
    reader = TableViews({"review": "words", "tags": "tags", "price": "number"})
    driver, head = Stochastic(max_iter=30, learning_rate=0.05), harmonium.Hinge(C=1.0)
    model = HarmoniumClassifier(4, views=reader, driver=driver, head=head, validation_fraction=0.0, random_state=0)
    return model.fit(table, "kind")


def small_folder(place: Path) -> ModelFolder:
    table = small_table()
    model = small_model(table)
    rows = np.arange(0, len(table), 3)
    truth = (table["kind"].to_numpy()[rows] == "good").astype(float)
    # three mistakes that are known: rows 0, 6 and 12 are bad, and held to be good
    shares = np.where(truth == 1, 0.9, 0.2)
    shares[0], shares[2], shares[4] = 0.6, 0.97, 0.7
    predicted = np.stack([1 - shares, shares], axis=1)
    pictures = [np.full((8, 8, 3), 40 * (row % 6), dtype=np.uint8) for row in range(len(table))]
    pictures[3] = None  # an item without a picture
    return ModelFolder.create(
        place / "rooms",
        model,
        table,
        target="kind",
        held_out=HeldOut(rows, truth[:, None], predicted, {"n_rows": len(rows), "measures": []}),
        thumbnails=Thumbnails.of(pictures),
    )


def fuzzed(app: Any, n_examples: int, number: int | None = None) -> dict[tuple[str, str, str], Counter[int]]:
    """Ask every endpoint with requests that fit its description, and with such that do not.

    They are always the same, or those of a number. Returns how often each status was the answer, by method, path and
    kind of request. An answer that is not as described, or a fault of the server, is an error with the request that
    shows it.
    """
    import schemathesis

    operations = [found.ok() for found in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations()]
    return {
        (operation.method, operation.path, mode.name): _statuses(operation, mode, n_examples, number)
        for operation in operations
        for mode in schemathesis.GenerationMode
    }


def _statuses(operation: Any, mode: Any, n_examples: int, number: int | None) -> Counter[int]:
    from hypothesis import HealthCheck, given, seed, settings
    from hypothesis.errors import Unsatisfiable
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    statuses: Counter[int] = Counter()
    limits = {
        "deadline": None,
        "derandomize": number is None,
        "database": None,
        "suppress_health_check": list(HealthCheck),
    }

    @settings(max_examples=n_examples, **limits)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        response = case.call()
        statuses[response.status_code] += 1
        if response.status_code != 414:  # what is too long is refused before it is looked at
            # a request may fit the schema and ask for what the model cannot say, such as words that it does not know
            case.validate_response(response, excluded_checks=[positive_data_acceptance])

    with suppress(Unsatisfiable):  # an endpoint that takes nothing cannot be asked wrongly
        (ask if number is None else seed(number)(ask))()
    return statuses
