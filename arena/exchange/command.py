from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.counted import counted
from arena.exchange import whose_votes, wording
from arena.exchange.formats.columns import COLUMNS
from arena.exchange.formats.how import How
from arena.exchange.formats.known import AUTO
from arena.exchange.formats.problems import RefusedError
from arena.exchange.formats.tables import CHOOSABLE
from arena.exchange.imports import OvertakenError, finish, new_record, plan_import
from arena.exchange.plans import Plan
from arena.exchange.shifts import StoppedError
from arena.raters.models import Rater, Team


class ImportCommand(BaseCommand):
    """Prints every error with its line and column and changes nothing, or imports the whole file."""

    kind: str
    # The checks load every page's code, which takes longer than most imports.
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--column",
            dest="columns",
            action="append",
            default=[],
            metavar="OURS=THEIRS",
            help="what a column of the file is; once it is used, names alone say nothing",
        )
        parser.add_argument("--encoding", default="", choices=CHOOSABLE, help="where the file doesn't tell")
        parser.add_argument("--delimiter", default="", help="where the header doesn't tell: , ; | or tab")

    def handle(self, *, file: Path, target: str, **options):
        if not file.is_file():
            raise CommandError(f"There is no file {file}.")
        admission = options.get("admission", Rater.Admission.RECORDED)
        plan = plan_import(self.kind, Team.default(), target, file, file.name, admission, self.how(options))
        for notice in [*plan.notices, *wording.personal(plan.personal)]:
            self.stdout.write(f"{file.name}: {notice}")
        if not plan.is_sound:
            raise CommandError(self.refusal(plan))
        if plan.asks_whose:
            doubt = whose_votes.say_doubt(plan.asks_whose)
            raise CommandError(
                f"{file.name}: are its raters people or LLM judges ({doubt})? Nothing was imported. "
                "Say --people or --judges."
            )
        record = new_record(plan)
        try:
            finish(record, plan)
        except (OvertakenError, StoppedError, RefusedError) as error:
            raise CommandError(str(error) or "The import was cancelled; nothing was stored.") from error
        if record.added:
            # What became of a row, a vote or a judgment, is said above.
            noun = "row" if self.kind == "votes" else self.kind.removesuffix("s")
            self.stdout.write(self.style.SUCCESS(f"{counted(record.added, noun)} imported into “{target}”."))
        else:
            self.stdout.write(f"Nothing new: all {self.kind} of {file.name} are in “{target}” already.")

    def how(self, options: dict[str, Any]) -> How:
        columns = dict(self.meaning(told) for told in options["columns"])
        delimiter = options["delimiter"]
        return How(
            format=options.get("format_name", AUTO),
            judges=options.get("judges", False),
            people=options.get("people", False),
            model=options.get("model", ""),
            columns=columns or None,
            model_columns=tuple(options.get("model_columns", ())),
            encoding=options["encoding"],
            delimiter="\t" if delimiter in ("tab", "\\t") else delimiter,
        )

    def meaning(self, told: str) -> tuple[str, str]:
        ours, _, theirs = told.partition("=")
        if ours not in COLUMNS[self.kind] or not theirs:
            known = ", ".join(COLUMNS[self.kind])
            raise CommandError(f"--column {told}: write one of {known}, then = and the file's column.")
        return ours, theirs

    def refusal(self, plan: Plan) -> str:
        lines = [f"{plan.file_name}: {problem}" for problem in plan.errors]
        if plan.error_count > len(plan.errors):
            lines.append(f"and {plan.error_count - len(plan.errors):,} more")
        errors = counted(plan.error_count, "error")
        return "\n".join([*lines, f"Nothing was imported: {errors} in {plan.file_name}."])
