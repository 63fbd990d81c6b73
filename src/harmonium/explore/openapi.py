"""The OpenAPI description of all endpoints, for people who write programs and for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harmonium._version import __version__
from harmonium.explore import schemas
from harmonium.explore.endpoints import Endpoint
from harmonium.explore.fields import Field, item_schema

_REFUSALS = {
    "400": "The body is no JSON.",
    "404": "There is no such thing.",
    "413": "The body is too long.",
    "414": "The address is too long.",
    "422": "What was asked cannot be answered; the sentence says why.",
    "429": "There were too many requests in a short time.",
}


def openapi_description(title: str, endpoints: Sequence[Endpoint], columns: Sequence[str]) -> dict[str, Any]:
    """Return the OpenAPI description.

    Parameters
    ----------
    title : str
        Name of the folder.
    endpoints : sequence of Endpoint
        Everything that can be asked.
    columns : sequence of str
        Columns that an item may have.

    Returns
    -------
    dict
        As OpenAPI 3.1 has it.
    """
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": __version__,
            "description": "Predictions, search and annotation by a harmonium. No endpoint changes anything.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Item": item_schema(columns), "Error": schemas.ERROR},
            "responses": {status: _refusal(text) for status, text in _REFUSALS.items()},
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    page = f" The page {endpoint.page_path} shows it." if endpoint.page else ""
    operation: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()} {endpoint.path}",
        "summary": endpoint.summary,
        "description": f"{endpoint.summary}.{page}",
        "responses": {
            "200": {
                "description": endpoint.summary,
                "content": {"application/json": {"schema": endpoint.response}},
            },
            **{status: {"$ref": f"#/components/responses/{status}"} for status in _REFUSALS},
        },
    }
    if endpoint.method == "POST":
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": _body(endpoint)}}}
    else:
        operation["parameters"] = [_parameter(endpoint.path, name, entry) for name, entry in endpoint.fields.items()]
    return operation


def _body(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _schema(entry) for name, entry in endpoint.fields.items()},
        "required": [name for name, entry in endpoint.fields.items() if entry.is_needed],
        "additionalProperties": False,
    }


def _parameter(path: str, name: str, entry: Field) -> dict[str, Any]:
    in_path = f"{{{name}}}" in path
    return {
        "name": name,
        "in": "path" if in_path else "query",
        "required": in_path or entry.is_needed,
        "description": entry.description,
        "schema": _schema(entry),
    }


def _schema(entry: Field) -> dict[str, Any]:
    extra = {} if entry.default is None else {"default": entry.default}
    examples = {"examples": list(entry.examples)} if entry.examples else {}
    words = {"description": entry.description} if entry.description else {}
    return {**entry.schema, **extra, **examples, **words}


def _refusal(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
