"""Votes, retractions, seals, exclusions, renames: added, never changed; the database refuses, whoever asks.

The triggers are made after every migrate, not in a migration: on SQLite a later change of the table makes it
anew and silently loses them.
"""

from collections.abc import Iterator

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connections, models, router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_migrate
from django.dispatch import receiver

from arena.battles.models import Exclusion, Retraction, Vote
from arena.battles.seal_models import Seal
from arena.corpus.rename_models import Rename

# The columns of each that may change all the same.
APPEND_ONLY: dict[type[models.Model], tuple[str, ...]] = {
    Vote: (),
    Retraction: (),
    Seal: (),
    Rename: (),
    Exclusion: ("revoked_at", "revoked_by_id", "revoked_because"),
}
FUNCTION = "tiltyard_refuse_change"


def trigger_names(connection: BaseDatabaseWrapper) -> set[str]:
    """The triggers that have to exist."""
    acts = ["update", "delete"] + (["truncate"] if connection.vendor == "postgresql" else [])
    return {f"{model._meta.db_table}_refuses_{act}" for model in APPEND_ONLY for act in acts}


def missing_triggers(using: str = DEFAULT_DB_ALIAS) -> set[str]:
    connection = connections[using]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        else:
            cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'")
        return trigger_names(connection) - {name for (name,) in cursor.fetchall()}


@receiver(post_migrate, dispatch_uid="append-only triggers")
def create_triggers(app_config: AppConfig, using: str, **_kwargs) -> None:
    if app_config.name != "arena" or not router.allow_migrate_model(using, Vote):
        return
    connection = connections[using]
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        statements = sqlite_statements if connection.vendor == "sqlite" else postgresql_statements
        for model in APPEND_ONLY:
            if model._meta.db_table in tables:
                for statement in statements(model._meta.db_table, columns_held(model)):
                    cursor.execute(statement)


def columns_held(model: type[models.Model]) -> str:
    """OF and the columns that may not change, or nothing where none may."""
    free = APPEND_ONLY[model]
    if not free:
        return ""
    held = [field.column for field in model._meta.concrete_fields if field.column not in free]
    return "OF " + ", ".join(f'"{column}"' for column in held)


def sqlite_statements(table: str, of_columns: str) -> Iterator[str]:
    for act, which in (("UPDATE", of_columns), ("DELETE", "")):
        yield (
            f'CREATE TRIGGER IF NOT EXISTS "{table}_refuses_{act.lower()}" BEFORE {act} {which} ON "{table}"'
            f" BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )


def postgresql_statements(table: str, of_columns: str) -> Iterator[str]:
    yield (
        f"CREATE OR REPLACE FUNCTION {FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for act, which, each in (
        ("UPDATE", of_columns, "ROW"),
        ("DELETE", "", "ROW"),
        ("TRUNCATE", "", "STATEMENT"),
    ):
        yield (
            f'CREATE OR REPLACE TRIGGER "{table}_refuses_{act.lower()}" BEFORE {act} {which} ON "{table}"'
            f" FOR EACH {each} EXECUTE FUNCTION {FUNCTION}()"
        )
