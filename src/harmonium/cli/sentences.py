"""Sentences of the library in the words of commands: what to do names options, never Python."""

from __future__ import annotations

import re

# remedies of the library that have a counterpart among the options
_REMEDIES = {
    "or the roles of columns as TableViews(roles=...)": "or name columns by --text, --tags, --number or --category",
    "pass TableViews(roles=...) to keep one": "give a column a role (--text, --number, …) to keep it",
    "use a lower learning_rate, fewer units, or another family (large counts: logarithms as Gaussian())": (
        "ask for fewer topics by --topics"
    ),
    "save the model again, or pass the path that save was given": "name a folder that harmonium fit wrote",
    "use HarmoniumRegressor to predict numbers": "choose --task number",
    "use HarmoniumClassifier for classes": "choose --task class",
    "use Harmonium to learn without labels": "leave --target out to find topics",
    "pass it to load(path, encoders=...), or as --embed": "pass it as --embed",
    "pass np.log1p of it, on which scale large counts are alike": "write logarithms of the counts into the file",
    "convert it with pandas.to_datetime": "write times as 2024-05-31, or choose another role",
    "pass Number(scale='linear')": "give it the role number",
}
# where folders of pictures are named
_REMEDIES_OF_PATTERNS = {
    re.compile(r"fit with roles=\{.*?\}, or read the files with [\w.]*\w"): "name their folder by --pictures",
}
# what users wrote stands in quotes, and may look like anything
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
# calls, settings, attributes, and names such as sample_weight or TableViews
_PYTHON = re.compile(r"\w\(|\b[a-z_]+=|\b[a-z]+_[a-z_]*|\b(?:[A-Z][a-z]+){2,}\b|\b(?:numpy|np|pandas|pd)\.\w")


def names_python(clause: str) -> bool:
    """Tell whether a part of a sentence names something that only Python programmers can use.

    Examples
    --------
    >>> names_python("pass view_weights=None"), names_python("correct 'sample_weight' in column 3")
    (True, False)
    """
    return _PYTHON.search(_QUOTED.sub("", clause)) is not None


def for_commands(sentence: str) -> str:
    """Return a sentence of the library as people who type commands need it.

    What to do is said by options, where there are some for it, and left out where only Python could do it.

    Parameters
    ----------
    sentence : str
        What must hold, what was got and what to do, with "; " between them.

    Returns
    -------
    str
        The same, whose last parts name no Python.

    Examples
    --------
    >>> for_commands("y must hold numbers to predict; got dtype object; use HarmoniumClassifier for classes.")
    'y must hold numbers to predict; got dtype object; choose --task class.'
    >>> for_commands("View 'x' needs 0 or 1; found 3 at row 2; pass Poisson() for counts.")
    "View 'x' needs 0 or 1; found 3 at row 2; change the data, or see --help."
    """
    for remedy, option in _REMEDIES.items():
        sentence = sentence.replace(remedy, option)
    for pattern, option in _REMEDIES_OF_PATTERNS.items():
        sentence = pattern.sub(option, sentence)
    said, *last = sentence.rsplit("; ", 1)
    if not last or not names_python(last[0]):
        return sentence
    return f"{said}; change the data, or see --help."
