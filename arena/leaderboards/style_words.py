"""The features of style by the names that readers see."""

from django.utils.translation import gettext as _


def feature(name: str, length_unit: str) -> str:
    names = {
        "length": _("length in tokens") if length_unit == "tokens" else _("length in characters"),
        "headings": _("headings"),
        "list_items": _("list items"),
        "bold": _("bold passages"),
    }
    return names[name]
