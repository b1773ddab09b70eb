from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _


def stored_html(rendered: str) -> SafeString:
    """HTML as a template may print it. The one place where text becomes markup: only columns named
    `rendered_html`, which only `arena.corpus.render` fills, may pass through.

    The few words that the renderer adds are put into the reader's language here. No text can hold their
    markup, since the renderer escapes what it is given.
    """
    if get_language() == "en" and "data-role" not in rendered:
        return SafeString(rendered)
    for markup, words in _spoken().items():
        rendered = rendered.replace(markup, words)
    return SafeString(rendered)


def _spoken() -> dict[str, str]:
    image = '<span class="image" dir="auto">['
    roles = {"user": _("Person"), "assistant": _("Model"), "system": _("System")}
    return {
        "<summary>Reasoning</summary>": f"<summary>{escape(_('Reasoning'))}</summary>",
        f"{image}Image: ": f"{image}{escape(_('Image:'))} ",
        **{
            f'<div class="turn" data-role="{role}">\n': f'<div class="turn" data-role="{role}">\n'
            f'<p class="role">{escape(words)}</p>\n'
            for role, words in roles.items()
        },
    }
