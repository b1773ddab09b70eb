"""Leaderboards from a file of votes, without the web app."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ratings import command_agreement, command_compare, command_fit, command_plan
from ratings.errors import BadOptionError, RatingsError
from ratings.votes_file import VotesFileError, in_file

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
        votes: Path | None = getattr(options, "votes", None)
        if votes is not None and not isinstance(error, VotesFileError | BadOptionError):
            error = in_file(error, votes)
        return _refused(str(error))
    except OSError as error:
        return _refused(f"{error.filename or 'output'}: {error.strerror or error}; choose another place")
    return 0


def _refused(why: str) -> int:
    """One line on stderr, whatever names in it hold."""
    line = " ".join(why.splitlines())
    sys.stderr.write(f"python -m ratings: {line}\n")
    return EXIT_BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
