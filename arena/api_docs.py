"""The API's addresses as a page for people, read off its own description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

METHODS = ("get", "post", "put", "patch", "delete")
BY_ADDRESS, OF_PAGES = "path", ("limit", "offset")


@dataclass(frozen=True)
class Parameter:
    """in_address: part of the path."""

    name: str
    kind: str
    in_address: bool
    required: bool
    words: str


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str
    words: str
    parameters: tuple[Parameter, ...]
    sends: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    name: str
    endpoints: tuple[Endpoint, ...]


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    host = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
    return render(request, "api.html", {"groups": groups(), "host": host})


@cache
def groups() -> tuple[Group, ...]:
    """Once for each process: addresses don't change while it runs."""
    document = SchemaGenerator().get_schema(request=None, public=True)
    found = sorted(_endpoints(document), key=lambda one: one[0])  # stable: in a group as described
    return tuple(
        Group(tag, tuple(endpoint for _tag, endpoint in mine))
        for tag, mine in groupby(found, key=lambda one: one[0])
    )


def _endpoints(document: Mapping[str, Any]) -> Iterator[tuple[str, Endpoint]]:
    for path, operations in document["paths"].items():
        for method in METHODS:
            if (told := operations.get(method)) is not None:
                yield told["tags"][0], _endpoint(path, method, told)


def _endpoint(path: str, method: str, told: Mapping[str, Any]) -> Endpoint:
    return Endpoint(
        method=method.upper(),
        path=path,
        words=told.get("description", ""),
        parameters=tuple(map(_parameter, sorted(told.get("parameters", []), key=_place))),
        sends=", ".join(told.get("requestBody", {}).get("content", {})),
        answers=tuple(sorted(told["responses"])),
    )


def _place(told: Mapping[str, Any]) -> tuple[bool, bool, str]:
    """Those of the address first, those of a long list's pages last."""
    return told["in"] != BY_ADDRESS, told["name"] in OF_PAGES, told["name"]


def _parameter(told: Mapping[str, Any]) -> Parameter:
    schema = told.get("schema", {})
    return Parameter(
        name=told["name"],
        kind=schema.get("format") or schema.get("type", ""),
        in_address=told["in"] == BY_ADDRESS,
        required=bool(told.get("required")),
        words=told.get("description") or ", ".join(map(str, schema.get("enum", []))),
    )
