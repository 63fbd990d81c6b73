"""``harmonium demo``: a table of reviews with gaps, from raw columns to a report, in under a minute."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.utils import Bunch

from harmonium.cli.console import cell, shown
from harmonium.cli.errors import OptionError
from harmonium.cli.explanation import bars
from harmonium.cli.progress import Steps
from harmonium.core.extras import require
from harmonium.datasets import make_reviews
from harmonium.estimators import HarmoniumRegressor
from harmonium.evaluation import split_rows
from harmonium.inspection import annotate_view
from harmonium.model_folder import ModelFolder, fit_folder
from harmonium.training import Stochastic

_ROWS, _QUICK_ROWS, _QUICK_EPOCHS = 1000, 200, 3
_HOLDOUT = 0.25
_TOPICS_SHOWN, _WORDS_SHOWN = 5, 6
_QUERY = "dirty bathroom, rude manager"
_NAMES = {"harmonium": "harmonium", "linear": "linear model of the same columns", "trivial": "the mean rating"}


def run_demo(output: Path, seed: int, quick: bool, console: Console, steps: Steps) -> None:
    """Make reviews with gaps, fit a model folder, show what it knows, and write report and map.

    Parameters
    ----------
    output : Path
        Folder for ``reviews.csv``, the model folder ``reviews``, ``report.html`` and ``map.png``; it is made if it does
        not exist.
    seed : int
        Seed of the reviews and of the training.
    quick : bool
        Whether to take few reviews and epochs.
    console : Console
        Where to print.
    steps : Steps
        Is told what is done next.
    """
    _check_seed(seed)
    _make_folder(output)
    reviews = make_reviews(_QUICK_ROWS if quick else _ROWS, missing_cells=1 / 3, random_state=seed)
    reviews.frame.to_csv(output / "reviews.csv", index=False)

    def say(sentence: str = "") -> None:
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)

    say(f"{len(reviews.frame):,} made-up reviews of places to stay; a third of the cells are empty. Their ratings are")
    say("to be predicted, and what guests write about is to be read. This takes up to a minute …")
    say("  A view is one kind of data about the same items: words, tags, numbers, categories.")
    say("  A topic is a hidden unit: what tends to come together in an item, across its views.")
    say("  A score is measured on rows that the model has not seen.\n")
    folder = train_model(output / "reviews", reviews, seed, quick, steps)
    columns = folder.model.views_.reset_index()[["column", "role", "view", "missing", "note"]]
    columns["missing"] = [f"{share:.0%}" for share in columns["missing"]]
    console.print(shown(columns, "What the columns were read as"))
    steps("Fitting boosting to the same rows, to compare with")
    console.print(score_table(folder, boosted(reviews, seed)))
    console.print(topic_table(folder))
    _show_uses(folder, reviews, console)
    write_pages(folder, output, say)
    say("\nGo on with:")
    for command in (f'search {folder.path} "{_QUERY}"', f"explore {folder.path}", "fit YOUR.csv --target COLUMN"):
        say(f"  harmonium {command}")


def train_model(path: Path, reviews: Bunch, seed: int, quick: bool, steps: Steps) -> ModelFolder:
    """Return the model folder of the reviews, with scores on rows that were held out."""
    driver = Stochastic(max_iter=_QUICK_EPOCHS) if quick else None
    model = HarmoniumRegressor(random_state=seed, driver=driver)
    return fit_folder(path, model, reviews.frame, "rating", holdout=_HOLDOUT, n_resamples=0, callback=steps)


def boosted(reviews: Bunch, seed: int) -> float:
    """Return R² of gradient boosting on the same held-out rows, prepared as a practitioner would.

    Texts and tags become thirty directions of their weighted words, places are categories, dates their day of the year.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.decomposition import TruncatedSVD
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import r2_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    data = reviews.data.assign(
        price=reviews.data["price"].str.extract(r"(\d+)", expand=False).astype(float),
        date=pd.to_datetime(reviews.data["date"]).dt.dayofyear,
        **reviews.data[["review", "tags"]].fillna(""),
    )
    words = [
        (make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(size, random_state=seed)), column)
        for column, size in (("review", 30), ("tags", 10))
    ]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(*words, (encoder, ["place"]), remainder="passthrough")
    train, test = split_rows(reviews.target, _HOLDOUT, seed)
    model = make_pipeline(columns, HistGradientBoostingRegressor(learning_rate=0.05, random_state=seed))
    model.fit(data.iloc[train], reviews.target.iloc[train])
    return float(r2_score(reviews.target.iloc[test], model.predict(data.iloc[test])))


def score_table(folder: ModelFolder, boosting: float) -> Table:
    """Return R² on held-out rows beside simpler models and boosting, the best first."""
    assert folder.scores is not None
    measure = folder.scores["measures"][0]
    scores = {_NAMES[entry["name"]]: entry["value"] for entry in measure["models"]}
    scores["boosting of the same columns"] = boosting
    table = Table(title=f"Rating of {folder.scores['n_rows']} held-out reviews", title_justify="left")
    table.add_column("model")
    table.add_column(f"{measure['measure']} (1 is perfect)", justify="right")
    for name, value in sorted(scores.items(), key=lambda pair: -pair[1]):
        table.add_row(name, f"{value:z.2f}")
    return table


def topic_table(folder: ModelFolder) -> Table:
    """Return the words of the topics that most items have, and how their ratings differ from the others'."""
    words = folder.model.topics("review", n=_WORDS_SHOWN)
    strength, rating = folder.topic_coordinates, folder.items["rating"].to_numpy(dtype=float)
    table = Table(title=f"{_TOPICS_SHOWN} of {folder.model.n_topics_} topics", title_justify="left")
    for name in ("topic", "words", "rating of its items"):
        table.add_column(name, justify="right" if name.startswith("rating") else "left")
    for topic in (-strength.mean(axis=0)).argsort()[:_TOPICS_SHOWN]:
        typical = rating[(-strength[:, topic]).argsort()[: len(rating) // 20]].mean()
        table.add_row(f"topic_{topic}", cell(", ".join(words.loc[topic]), 90), f"{typical:.1f}")
    return table


def _show_uses(folder: ModelFolder, reviews: Bunch, console: Console) -> None:
    """Print tags that were missing, what a search finds, and why a review got its prediction."""
    data = reviews.data
    row = int((data["review"].notna() & data["tags"].isna()).argmax())
    said = cell(data["review"].iloc[row], 110)
    guessed = annotate_view(folder.model, "tags", data.iloc[[row]], top=4)["label"]
    found = folder.search(_QUERY, 20)
    texts = folder.items["review"].iloc[found["row"]]
    found, texts = (part[texts.notna().to_numpy()].head(3) for part in (found, texts))
    lines: list[tuple[str, Any]] = [
        ("Review without tags", said),
        ("  tags filled in", ", ".join(guessed)),
        ("  tags it had", reviews.complete["tags"].iloc[row].replace("|", ", ")),
        ("Search", _QUERY),
        *(("  finds", f"{score:.2f}  {cell(text, 110)}") for score, text in zip(found["score"], texts, strict=True)),
    ]
    grid = Table.grid(padding=(0, 2))
    for name, value in lines:
        grid.add_row(name, str(value))
    console.print(grid)
    why = folder.explain(row)
    title = f"Why this review is predicted {why.scores[0]:.1f} (the average one: {why.base[0]:.1f})"
    console.print(bars(title, why.table().rename(columns={"view": "column"}), ["column", "feature"], 5))


def write_pages(folder: ModelFolder, output: Path, say: Any) -> None:
    """Write the report and the map, or say which extra either needs."""
    try:
        require("jinja2", "The report")
        from harmonium.report.page import write_report
        from harmonium.report.summary import summarise

        write_report(summarise(folder), output / "report.html")
        say(f"The report is in {output / 'report.html'}; open it in a browser.")
    except ImportError as missing:
        say(str(missing))
    try:
        require("matplotlib", "The map")
        from harmonium.report import MapDisplay

        predicted = folder.model.predict(folder.items)  # whole numbers would be classes, each in a colour of its own
        places = pd.DataFrame(folder.map, columns=["x", "y"])
        display = MapDisplay(map=places.assign(label=predicted), label_name="predicted rating")
        display.plot()
        display.ax_.set_title("Reviews with like topics lie together; the colour is the predicted rating")
        display.figure_.savefig(output / "map.png", dpi=130)
        say(f"The map of the reviews is in {output / 'map.png'}.")
    except ImportError as missing:
        say(str(missing))


def _check_seed(seed: int) -> None:
    """Refuse what scikit-learn takes for no seed."""
    if not 0 <= seed < 2**32:
        raise OptionError(f"--seed must be a whole number from 0 to {2**32 - 1}; got {seed}; 0 is usual.")


def _make_folder(output: Path) -> None:
    """Make the folder, and try to write there before anything long is computed."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=output):
            pass
    except OSError as error:
        raise OptionError(
            f"--output must be a folder that can be written to; {output} cannot ({str(error.strerror).lower()}); "
            "choose another."
        ) from error
