"""Leaderboards from a file of votes, without the web app."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ratings import command_agreement, command_compare, command_fit, command_plan
from ratings.errors import RatingsError

EXIT_BAD_INPUT = 2


def parser() -> argparse.ArgumentParser:
    """The command line; each command adds its own arguments."""
    top = argparse.ArgumentParser(prog="python -m ratings", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    for module in (command_fit, command_compare, command_agreement, command_plan):
        module.add_arguments(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; bad input is one line on stderr and exit code 2."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except RatingsError as error:
        sys.stderr.write(f"python -m ratings: {error}\n")
        return EXIT_BAD_INPUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
