from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from arena.row_numbers import LARGEST, as_id

if TYPE_CHECKING:
    from rest_framework.views import APIView

LEAST = {"limit": 1, "offset": 0}


class BoundedPagination(LimitOffsetPagination):
    """A larger limit gets a page of this size; `count` and `next` tell that there is more. What is no number
    is refused.
    """

    max_limit = 1000

    def get_limit(self, request: Request) -> int | None:
        asked = _number(request, "limit")
        return self.default_limit if asked is None else min(asked, self.max_limit)

    def get_offset(self, request: Request) -> int:
        return _number(request, "offset") or 0

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        told = super().get_schema_operation_parameters(view)
        for parameter in told:
            parameter["schema"]["minimum"] = LEAST[parameter["name"]]
        return told


def _number(request: Request, name: str) -> int | None:
    asked = request.query_params.get(name)
    if asked is None:
        return None
    known = as_id(asked)
    number = LARGEST if known is None and re.fullmatch("[0-9]+", asked) else known
    if number is None or number < LEAST[name]:
        words = _("This is a whole number from %(least)d on.")
        raise ValidationError({name: [words % {"least": LEAST[name]}]})
    return number
