from django.core.management.base import BaseCommand, CommandError

from arena.corpus.models import PromptSet
from arena.corpus.publishing import NotPublishableError, publish
from arena.raters.models import Team


class Command(BaseCommand):
    requires_system_checks = []
    help = "Publishes a prompt set: its prompts never change again, and campaigns may use it."

    def add_arguments(self, parser):
        parser.add_argument("name")

    def handle(self, *, name: str, **_options):
        sets = PromptSet.objects.filter(team=Team.default(), name=name)
        prompt_set = sets.order_by("-version").first()
        if prompt_set is None:
            raise CommandError(f"There is no prompt set “{name}”.")
        try:
            publish(prompt_set)
        except NotPublishableError as error:
            raise CommandError(str(error)) from error
        prompt_set.refresh_from_db()
        self.stdout.write(
            self.style.SUCCESS(f"“{prompt_set}” is published (hash {prompt_set.content_hash[:12]}…).")
        )
