"""Which addresses a campaign may have: the form, the commands and the imports all ask here."""

from django.utils.text import slugify
from django.utils.translation import gettext as _

from arena.campaigns.models import Campaign

LONGEST = 60
# Pages of Tiltyard's own stand at these addresses.
TAKEN = frozenset({"new"})


class SlugRefusedError(ValueError):
    """args[0] says why."""


def check_slug(slug: str) -> None:
    if not slug or len(slug) > LONGEST or slugify(slug) != slug:
        words = _("“%(slug)s” is no address for a campaign: use a-z, 0-9, - and _, at most 60.")
        raise SlugRefusedError(words % {"slug": slug})
    if slug in TAKEN:
        words = _("“%(slug)s” is taken by a page of Tiltyard's own; choose another.")
        raise SlugRefusedError(words % {"slug": slug})


def free_slug(wanted: str) -> str:
    """The address wanted, with a number behind it where another campaign has it."""
    number, slug = 1, wanted[:LONGEST]
    while slug in TAKEN or Campaign.objects.filter(slug=slug).exists():
        number += 1
        ending = f"-{number}"
        slug = f"{wanted[: LONGEST - len(ending)]}{ending}"
    return slug
