"""{% folded %}: a part of a page whose words are looked up once a language, not on every answer."""

from __future__ import annotations

from itertools import groupby

from django import template
from django.template.base import FilterExpression, Node, NodeList, Parser, TextNode, Token, Variable
from django.template.context import Context
from django.templatetags.i18n import TranslateNode
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()


class FoldedNode(Node):
    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist
        self.by_language: dict[str | None, list[str | Node]] = {}

    def render(self, context: Context) -> SafeString:
        language = get_language()
        parts = self.by_language.get(language)
        if parts is None:
            parts = self.by_language[language] = fold(self.nodelist, context)
        return SafeString(
            "".join([part if isinstance(part, str) else part.render_annotated(context) for part in parts])
        )


def fold(nodes: NodeList, context: Context) -> list[str | Node]:
    """Neighbouring text and translated words as one string; what depends on the context as it is."""
    parts: list[str | Node] = []
    for fixed, group in groupby(nodes, key=is_fixed):
        nodes_of_kind = list(group)
        parts += ["".join(one.render_annotated(context) for one in nodes_of_kind)] if fixed else nodes_of_kind
    return parts


def is_fixed(node: Node) -> bool:
    if isinstance(node, TranslateNode):
        words: FilterExpression = node.filter_expression
        literal = isinstance(words.var, Variable) and words.var.literal is not None
        return literal and not words.filters and node.asvar is None
    return isinstance(node, TextNode)


@register.tag
def folded(parser: Parser, _token: Token) -> FoldedNode:
    nodes = parser.parse(("endfolded",))
    parser.delete_first_token()
    return FoldedNode(nodes)
