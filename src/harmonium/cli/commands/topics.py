"""``harmonium topics``: the topics of a model folder, and edits of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harmonium.cli.errors import one_line_errors
from harmonium.cli.options import AsJson, ModelPath, OutputPath

if TYPE_CHECKING:
    from harmonium.training.topic_edits import TopicEdits


def command(
    model: ModelPath,
    features: Annotated[int, typer.Option(min=1, help="Words, tags or columns shown of each topic.")] = 8,
    items: Annotated[int, typer.Option(min=1, help="Typical items shown of each topic.")] = 1,
    topics: Annotated[int, typer.Option("--topics", "-n", min=1, help="Topics shown, the most varied first.")] = 20,
    merge: Annotated[list[str] | None, typer.Option(help="Make one topic of several: 3,7.")] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(help='Make a topic of some features of a topic: "3=thin, walls"; 3 alone: of what it was merged.'),
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="Give a topic a name: 3=noise; 3 alone: its words again.")
    ] = None,
    first: Annotated[str | None, typer.Option(help="Topics that come first, in this order: 4,0.")] = None,
    hide: Annotated[str | None, typer.Option(help="Leave topics out of all that is shown: 5,6.")] = None,
    undo: Annotated[int, typer.Option(min=0, help="Take back so many of the last edits, before others.")] = 0,
    by: Annotated[
        str | None, typer.Option(help="Print the mean of each topic by a date or category column of the items instead.")
    ] = None,
    freq: Annotated[str | None, typer.Option(help="Length of the periods of dates: D, W, M, Q or Y.")] = None,
    output: OutputPath = None,
    as_json: AsJson = False,
) -> None:
    """Print what each topic is about: its words, tags and columns, what it speaks for, and typical items.

    Topics can be edited by hand: merged, split, named, hidden and put in order. The folder keeps the edits, and
    everything shows them; predictions stay as they are. Edits may be repeated, and are done in the order of this list.
    With --by there is a row for each topic and period or group, with an interval, for models that predict nothing.
    """
    with one_line_errors():
        from harmonium.cli.console import put_frame
        from harmonium.cli.model_info import prevalence, print_topics
        from harmonium.model_folder import ModelFolder

        folder = ModelFolder.open(model)
        before = folder.model.fitted_.edits
        edits = _undone(before, undo)
        for numbers in merge or ():
            edits = edits.merge(*map(_number, numbers.split(",")))
        for one in split or ():
            topic, _, words = one.partition("=")
            edits = edits.split(_number(topic), [word.strip() for word in words.split(",") if word.strip()])
        for one in rename or ():
            topic, _, name = one.partition("=")
            edits = edits.rename(_number(topic), name)
        edits = edits if first is None else edits.order(*map(_number, first.split(",")))
        edits = edits if hide is None else edits.hide(*map(_number, hide.split(",")))
        if edits != before:
            folder = folder.edit_topics(edits)
        if by is not None:
            put_frame(prevalence(folder, by, freq), output, as_json)
            return
        if output is not None or freq is not None:
            raise ValueError("--output and --freq go with --by, which names a column of the items; add it.")
        print_topics(folder, features, items, topics, as_json)


def _number(text: str) -> int:
    """Return the number of a topic that somebody wrote."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"Edits take numbers of topics, as in --merge 3,7 or --rename 3=noise; got {text!r}; correct it."
        ) from None


def _undone(edits: TopicEdits, number: int) -> TopicEdits:
    """Return edits without the last ones; refuse to take back more than there are."""
    if number > len(edits.operations):
        raise ValueError(f"--undo takes back at most {len(edits.operations)} edits, all there are; got {number}.")
    for _ in range(number):
        edits = edits.undo()
    return edits
