from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.urls import reverse

from arena.campaigns.creation import create_campaign
from arena.campaigns.models import Campaign, Guide
from arena.campaigns.opening import NotReadyError, open_campaign
from arena.campaigns.slugs import SlugRefusedError
from arena.corpus.models import PromptSet
from arena.counted import counted
from arena.operation import programs
from arena.raters.models import Team


class Command(BaseCommand):
    requires_system_checks = []
    help = "Makes a campaign, as a draft, over one or more prompt sets and every model that answered them."

    def add_arguments(self, parser):
        parser.add_argument("slug", help="last part of the campaign's address")
        parser.add_argument("--set", dest="sets", action="append", required=True, help="name of a prompt set")
        parser.add_argument("--name", default="", help="what people read; else the slug")
        parser.add_argument("--guide", type=Path, help="a Markdown file; else the starting text")
        parser.add_argument("--open", dest="opens", action="store_true", help="open it for votes at once")

    def handle(self, *, slug: str, sets: list[str], name: str, guide: Path | None, opens: bool, **_options):
        team = Team.default()
        text = self.read(guide) if guide else ""
        try:
            with transaction.atomic():
                campaign = create_campaign(team, slug, [self.find(team, one) for one in sets], name)
                if text:
                    Guide.publish(campaign, text)
                if opens:
                    open_campaign(campaign)
        except SlugRefusedError as error:
            raise CommandError(str(error)) from error
        except NotReadyError as error:
            raise CommandError(
                "Nothing is made, for it can't be opened:\n" + "\n".join(error.args[0])
            ) from error
        self.stdout.write(self.style.SUCCESS(self.say(campaign)))

    def say(self, campaign: Campaign) -> str:
        state = " and open" if campaign.is_open else ""
        models = counted(campaign.competitors.count(), "model")
        page = programs.address() + reverse("campaign", args=[campaign.slug])
        return f"The campaign “{campaign.slug}” is made{state}, with {models}: {page}"

    def read(self, file: Path) -> str:
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"The guide {file} can't be read: {error}") from error
        if not text.strip():
            raise CommandError(f"The guide {file} is empty.")
        return text

    def find(self, team: Team, name: str) -> PromptSet:
        prompt_set = PromptSet.objects.filter(team=team, name=name).order_by("-version").first()
        if prompt_set is None:
            raise CommandError(f"There is no prompt set “{name}”.")
        return prompt_set
