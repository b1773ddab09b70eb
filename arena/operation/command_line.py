"""manage.py's way in: what an operator can mend is said in words, not as a traceback."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, OperationalError, ProgrammingError, connection
from django.db.migrations.recorder import MigrationRecorder

WRONG_SETTING = 2
NO_DATABASE = 1


def main(arguments: Sequence[str]) -> None:
    if "--traceback" in arguments:
        execute_from_command_line(list(arguments))
        return
    try:
        execute_from_command_line(list(arguments))
    except ImproperlyConfigured as error:
        give_up(str(error), WRONG_SETTING)
    except DatabaseError as error:
        if lacks_tables(error):
            give_up(
                "the database has no tables yet. Start Tiltyard once (./tiltyard run --no-demo makes them and"
                " the admin's account), or make them with ./tiltyard manage migrate; then run this again",
                NO_DATABASE,
            )
        if not is_unusable(error):
            raise
        give_up(
            f"the database can't be used: {error}. Is DATABASE_URL right, is the file whole, do its tables"
            " exist? ./tiltyard manage migrate makes them; docs/deploy.md says how to restore a backup",
            NO_DATABASE,
        )


def lacks_tables(error: DatabaseError) -> bool:
    """Nothing was ever started over this database: not even the migrations' own table is there."""
    if not isinstance(error, OperationalError | ProgrammingError):
        return False
    try:
        return MigrationRecorder.Migration._meta.db_table not in connection.introspection.table_names()
    except DatabaseError:
        return False


def is_unusable(error: DatabaseError) -> bool:
    """The database as a whole. A single statement's failure is a fault of ours: its traceback is wanted."""
    return isinstance(error, OperationalError) or type(error) is DatabaseError


def give_up(words: str, code: int) -> None:
    sys.stderr.write(f"tiltyard: {words}\n")
    raise SystemExit(code)
