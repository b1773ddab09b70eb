from django.core.management.base import BaseCommand

from arena.corpus.render import RENDERER_VERSION
from arena.corpus.render_again import render_again
from arena.counted import counted


class Command(BaseCommand):
    help = "Renders stored prompts and responses anew that an older version of the renderer has rendered."

    def handle(self, *args: object, **options: object) -> None:
        rendered = render_again().rendered
        if rendered:
            words = f"Rendered anew: {counted(rendered, 'text')}, by version {RENDERER_VERSION}."
        else:
            words = f"Nothing to do: all is rendered by version {RENDERER_VERSION}."
        self.stdout.write(self.style.SUCCESS(words))
