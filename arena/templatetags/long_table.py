"""{% long_table ROWS NAME %}: a table that scrolls ({% scroller %}), the end of a long one folded away.

Inside, `rows` are those of this part, and `is_rest` says that it is the second. A search in the page finds
what is closed and opens it; on paper it is open (static/tiltyard.css, templates/leaderboards/report.css).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from arena.templatetags.scroller import scroller

register = template.Library()

SHOWN = 20
WHOLE = 25
"""So many rows stay together: a fold that hides fewer saves a reader nothing."""


class LongTable(template.Node):
    child_nodelists = ("nodelist",)

    def __init__(self, rows: FilterExpression, name: FilterExpression, nodelist: NodeList) -> None:
        self.rows, self.name, self.nodelist = rows, name, nodelist

    def render(self, context: Context) -> SafeString:
        rows: Sequence[Any] = list(self.rows.resolve(context) or ())
        name = str(self.name.resolve(context))
        if len(rows) <= WHOLE:
            return self._part(context, rows, name)
        words = {"name": name, "first": SHOWN + 1, "all": len(rows)}
        return format_html(
            '{}<details class="rest"><summary>{}</summary>{}</details>',
            self._part(context, rows[:SHOWN], name),
            _("Show all %(all)d rows") % {"all": len(rows)},
            self._part(context, rows[SHOWN:], _("%(name)s, rows %(first)d to %(all)d") % words, is_rest=True),
        )

    def _part(self, context: Context, rows: Sequence[Any], name: str, is_rest: bool = False) -> SafeString:
        with context.push(rows=rows, is_rest=is_rest):
            return scroller(self.nodelist.render(context), name)


@register.tag
def long_table(parser: Parser, token: Token) -> LongTable:
    parts = token.split_contents()
    if len(parts) != 3:
        raise template.TemplateSyntaxError("{% long_table ROWS NAME %}: the rows, and what they are called")
    nodelist = parser.parse(("endlong_table",))
    parser.delete_first_token()
    return LongTable(parser.compile_filter(parts[1]), parser.compile_filter(parts[2]), nodelist)
