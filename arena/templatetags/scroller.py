"""{% scroller %}: what may be wider than the page, in a box that scrolls, that keys reach, with a name."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

register = template.Library()


@register.simple_block_tag
def scroller(content: SafeString, name: str) -> SafeString:
    """The words are for whoever doesn't see the shade at its edge (static/tiltyard.css). `data-more` is the
    sign in it, for the report, whose own style sheet can hold no quotation marks."""
    return format_html(
        '<div class="scroll" data-more="›" tabindex="0" role="region" aria-label="{}">{}</div>',
        _("%(name)s: scrolls sideways where it is wider than the page") % {"name": name},
        content,
    )
