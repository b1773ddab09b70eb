"""The errors that every operation of the API can end in, as its schema names them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction
from rest_framework.permissions import AllowAny

DETAIL = {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}
BY_NAME = {
    "type": "object",
    "description": "by parameter or field what is wrong with it, or all of it under `detail`",
    "additionalProperties": {},
}
MEANINGS = {
    "400": "a parameter or field isn't understood",
    "403": "nobody has signed in, the token isn't known, or the role doesn't suffice",
    "404": "there is no such row, or the caller may not see it",
    "406": "the caller accepts no JSON",
    "413": "the body is too large; nothing was stored",
    "415": "the body is of another kind",
    "429": "too often; `Retry-After` says how many seconds to wait",
}


class SchemaWithErrors(AutoSchema):
    """Every operation names the errors that it can end in."""

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if direction == "response":
            for status in self._errors():
                bodies.setdefault(status, describe(status))
        return dict(sorted(bodies.items()))

    def _errors(self) -> list[str]:
        found = ["403", "406", "429"]
        takes_body = self.method in ("POST", "PUT", "PATCH")
        if takes_body or self._is_list_view() or "{" in self.path:
            found.append("400")
        if "{" in self.path or takes_body:
            found.append("404")
        if takes_body:
            found += ["413", "415"]
        if AllowAny in self.view.permission_classes and self.path.endswith("/schema/"):
            found.remove("403")
        return found


def describe(status: str) -> dict[str, Any]:
    schema = BY_NAME if status == "400" else DETAIL
    return {"description": MEANINGS[status], "content": {"application/json": {"schema": schema}}}
