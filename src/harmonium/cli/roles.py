"""Roles of columns, as options give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harmonium.cli.refusing import Refusal

#: options that give columns a role, and the role in the words of `harmonium.tables`
ROLE_OPTIONS = {
    "text": "words",
    "tags": "tags",
    "number": "number",
    "category": "category",
    "image": "image",
    "sequence": "sequence",
    "drop": "drop",
}


def roles_given(by_option: Mapping[str, Iterable[str] | None], pairs: Iterable[str] | None) -> dict[str, str]:
    """Return the role of each column that is given one.

    Parameters
    ----------
    by_option : mapping of str to iterable of str
        Columns of each option of `ROLE_OPTIONS`; an entry may name several, separated by commas.
    pairs : iterable of str
        What ``--role column=role`` was given.

    Returns
    -------
    dict of str to str
        Roles by column, in order.

    Examples
    --------
    >>> roles_given({"number": ["price,area"], "text": ["review"]}, ["year=category"])
    {'price': 'number', 'area': 'number', 'review': 'words', 'year': 'category'}
    """
    roles: dict[str, str] = {}
    given = [
        (column.strip(), ROLE_OPTIONS[option])
        for option, entries in by_option.items()
        for entry in entries or ()
        for column in entry.split(",")
    ]
    for pair in pairs or ():
        column, mark, role = pair.rpartition("=")
        if not mark or not column or not role:
            raise Refusal(f"--role takes COLUMN=ROLE, as in year=category; got {pair!r}; correct it.")
        given.append((column, role))
    for column, role in given:
        if roles.setdefault(column, role) != role:
            raise Refusal(f"A column has one role; {column!r} is given {roles[column]} and {role}; choose one of them.")
    return roles
