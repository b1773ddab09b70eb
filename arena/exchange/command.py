from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from arena.exchange.imports import OvertakenError, finish, new_record, plan_import
from arena.exchange.plans import Plan
from arena.raters.models import Team


class ImportCommand(BaseCommand):
    """Prints every error with its line and column and changes nothing, or imports the whole file."""

    kind: str
    passed_on = ("admission", "format_name", "judges", "model")  # options that `plan_import` takes
    # The checks load every page's code, which takes longer than most imports.
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("file", type=Path)

    def handle(self, *, file: Path, target: str, **options):
        if not file.is_file():
            raise CommandError(f"There is no file {file}.")
        known = {name: options[name] for name in self.passed_on if name in options}
        plan = plan_import(self.kind, Team.default(), target, file, file.name, **known)
        for notice in plan.notices:
            self.stdout.write(f"{file.name}: {notice}")
        if not plan.is_sound:
            raise CommandError(self.refusal(plan))
        record = new_record(plan)
        try:
            finish(record, plan)
        except OvertakenError as error:
            raise CommandError(str(error)) from error
        if record.added:
            self.stdout.write(self.style.SUCCESS(f"{record.added:,} {self.kind} imported into “{target}”."))
        else:
            self.stdout.write(f"Nothing new: all {self.kind} of {file.name} are in “{target}” already.")

    def refusal(self, plan: Plan) -> str:
        lines = [f"{plan.file_name}: {problem}" for problem in plan.errors]
        if plan.error_count > len(plan.errors):
            lines.append(f"and {plan.error_count - len(plan.errors):,} more")
        errors = "1 error" if plan.error_count == 1 else f"{plan.error_count:,} errors"
        return "\n".join([*lines, f"Nothing was imported: {errors} in {plan.file_name}."])
