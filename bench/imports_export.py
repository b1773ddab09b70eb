"""For bench/imports.py: fills the database of TILTYARD_DATA_DIR with a campaign of votes, and exports it."""

from __future__ import annotations

import argparse
import os
import sys

from bench import battle_data


def main(votes: int, out: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "arena.settings"
    import django

    django.setup()
    from django.core.management import call_command

    from arena.corpus.models import PromptSet

    battle_data.fill(argparse.Namespace(prompts=400, models=8, votes=votes))
    PromptSet.objects.update(name="elsewhere")
    call_command("export_campaign", battle_data.SLUG, "--out", out)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
