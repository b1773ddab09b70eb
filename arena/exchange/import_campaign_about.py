"""What campaign.json says: how the campaign was set up, looked at key by key."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from arena.campaigns.models import Campaign
from arena.exchange.archive import ABOUT
from arena.exchange.exports import CAMPAIGN_FIELDS, CAMPAIGN_STATE, CAMPAIGN_TIMES, REPORT_FIELDS
from arena.exchange.formats.cells import shown
from arena.exchange.formats.lines import unstorable
from arena.exchange.formats.problems import RefusedError
from arena.exchange.import_campaign_return import Row, any_moment
from arena.raters.models import Team

_NEEDED = ("campaign", "name", *CAMPAIGN_FIELDS, *CAMPAIGN_TIMES)
_SINCE: Row = {"plain_text": False}  # of exports made before there was the choice
_KNOWN = {"layout", "exported_at", "rows", "report", *_NEEDED, *CAMPAIGN_STATE}
_KINDS: tuple[tuple[type[models.Field], tuple[type, ...], str], ...] = (
    (models.BooleanField, (bool,), "true or false"),
    (models.IntegerField, (int,), "a whole number"),
    (models.FloatField, (int, float), "a number"),
    (models.Field, (str,), "text"),
)


def as_campaign(team: Team, slug: str, about: Row) -> Campaign:
    told = _SINCE | about
    for name in told:
        if name not in _KNOWN:
            raise _wrong(name, "this version knows no such key; take it out")
    for name in _NEEDED:
        if name not in told:
            raise _wrong(name, "is missing; get the export again")
        _look_at(name, told[name])
    _look_at_report(told.get("report"))
    fields = {name: told[name] for name in CAMPAIGN_FIELDS} | {n: _time(n, told[n]) for n in CAMPAIGN_TIMES}
    campaign = Campaign(team=team, slug=slug, name=told["name"], **fields)
    try:
        campaign.full_clean()
    except ValidationError as error:
        ((name, wrong), *_others) = error.message_dict.items()
        raise _wrong(name, f"{' '.join(wrong)} It is {shown(told.get(name, slug))}.") from error
    return campaign


def _look_at(name: str, value: Any) -> None:
    field: Any = Campaign._meta.get_field({"campaign": "slug"}.get(name, name))
    if value is None:
        if not field.null:
            raise _wrong(name, "is null; an export has a value there")
        return
    kinds, words = next((kinds, words) for of, kinds, words in _KINDS if isinstance(field, of))
    if type(value) not in kinds:
        raise _wrong(name, f"{words} is needed, this is {shown(value)}")
    _look_at_text(name, value)


def _look_at_report(told: Any) -> None:
    if told is None:
        return
    if not isinstance(told, dict):
        raise _wrong("report", f"an object is needed, this is {shown(told)}")
    for name, text in told.items():
        if name not in REPORT_FIELDS:
            raise _wrong(f"report.{name}", f"is unknown; known are {', '.join(REPORT_FIELDS)}")
        if not isinstance(text, str):
            raise _wrong(f"report.{name}", f"text is needed, this is {shown(text)}")
        _look_at_text(f"report.{name}", text)


def _look_at_text(name: str, value: Any) -> None:
    if isinstance(value, str) and (reason := unstorable(value)):
        raise _wrong(name, reason)


def _time(name: str, value: str | None) -> Any:
    try:
        return any_moment(value)
    except (ValueError, OverflowError) as error:
        raise _wrong(name, str(error)) from error


def _wrong(name: str, reason: str) -> RefusedError:
    return RefusedError(f"{ABOUT}: {name}: {reason}")
