from arena.exchange.command import ImportCommand
from arena.exchange.formats.known import AUTO, NAMES
from arena.raters.models import Rater


class Command(ImportCommand):
    help = (
        "Imports votes cast elsewhere into a campaign; the campaign, models and raters are made if missing."
    )
    kind = "votes"

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--campaign", dest="target", required=True, help="slug of the campaign")
        parser.add_argument("--format", dest="format_name", choices=NAMES, default=AUTO)
        whose = parser.add_mutually_exclusive_group()
        whose.add_argument(
            "--people",
            action="store_true",
            help="the raters of this file are people, though it calls them judges or like models",
        )
        whose.add_argument(
            "--judges",
            action="store_true",
            help="the raters of this file are LLM judges: its rows become judgments, and no votes",
        )
        parser.add_argument(
            "--simulated",
            dest="admission",
            action="store_const",
            const=Rater.Admission.SIMULATED,
            default=Rater.Admission.RECORDED,
            help="the raters are simulated, and are labelled so wherever they are shown",
        )
