from django.core.management.base import BaseCommand, CommandError

from arena.campaigns.creation import create_campaign
from arena.campaigns.slugs import SlugRefusedError
from arena.corpus.models import PromptSet
from arena.raters.models import Team


class Command(BaseCommand):
    requires_system_checks = []
    help = "Makes a campaign, as a draft, over one or more prompt sets and every model that answered them."

    def add_arguments(self, parser):
        parser.add_argument("slug", help="last part of the campaign's address")
        parser.add_argument("--set", dest="sets", action="append", required=True, help="name of a prompt set")
        parser.add_argument("--name", default="", help="what people read; else the slug")

    def handle(self, *, slug: str, sets: list[str], name: str, **_options):
        team = Team.default()
        try:
            campaign = create_campaign(team, slug, [self.find(team, set_name) for set_name in sets], name)
        except SlugRefusedError as error:
            raise CommandError(str(error)) from error
        models = campaign.competitors.count()
        self.stdout.write(self.style.SUCCESS(f"The campaign “{slug}” is made, with {models} models."))

    def find(self, team: Team, name: str) -> PromptSet:
        prompt_set = PromptSet.objects.filter(team=team, name=name).order_by("-version").first()
        if prompt_set is None:
            raise CommandError(f"There is no prompt set “{name}”.")
        return prompt_set
