"""Fixtures for every room: the cast, small campaigns built from the models, and a real browser."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import hypothesis
import pytest

from tests.migrated_database import begin_migrated, keep

# Playwright's synchronous API runs an event loop, in which Django otherwise refuses the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
# Two test processes on two cores: BLAS threads would only get in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SKIPPED: list[str] = []
IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        SKIPPED.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failed run: what isn't tested there is tested nowhere."""
    if IN_CI and SKIPPED and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if IN_CI and SKIPPED:
        terminalreporter.write_line(f"CI may skip nothing, but skipped: {', '.join(SKIPPED)}", red=True)


# A busy machine is no finding, so no deadline. CI repeats the same examples, and a red run is reproducible.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if IN_CI else "here")


# --- the database -----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def database_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("database") / "test.sqlite3"


@pytest.fixture(scope="session")
def django_db_keepdb(database_file: Path) -> bool:
    """What is migrated already isn't made anew; `migrate` runs over it all the same."""
    from django.conf import settings

    return settings.DATABASES["default"]["ENGINE"].endswith("sqlite3") and begin_migrated(database_file)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_keepdb: bool, database_file: Path) -> None:
    if database_file.exists() and not django_db_keepdb:
        keep(database_file)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(database_file: Path) -> None:
    """SQLite in a file, as in operation: the live server's threads then have connections of their own."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = str(database_file)
    elif worker := os.environ.get("PYTEST_XDIST_WORKER"):
        database.setdefault("TEST", {})["NAME"] = f"test_{database['NAME']}_{worker}"


@pytest.fixture(scope="session", autouse=True)
def processes_have_databases_of_their_own() -> None:
    """The settings have been read: what a test starts doesn't inherit the suite's database or queue."""
    for name in ("DATABASE_URL", "QUEUE_URL"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def flush_past_append_only_triggers() -> Iterator[None]:
    """Emptying the tables after a transactional test must get past the triggers that refuse DELETE.

    Django's flush sends post_migrate afterwards, which makes the triggers anew.
    """
    from django.db import connection

    kind = type(connection.ops)
    original = kind.sql_flush

    def sql_flush(self, *args, **kwargs):
        return drop_triggers(self.connection) + original(self, *args, **kwargs)

    kind.sql_flush = sql_flush
    yield
    kind.sql_flush = original


def drop_triggers(connection) -> list[str]:
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            return [f"DROP TRIGGER {quote(name)};" for (name,) in cursor.fetchall()]
        cursor.execute(
            "SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
            " WHERE NOT tgisinternal"
        )
        return [f"DROP TRIGGER {quote(name)} ON {quote(table)};" for name, table in cursor.fetchall()]


@pytest.fixture(autouse=True)
def no_memory_of_other_tests() -> None:
    """What a process remembers for some seconds would be about rows of another test with the same numbers."""
    from django.core.cache import cache

    from arena.battles import desks

    desks.forget_spans()
    cache.clear()


@pytest.fixture(autouse=True)
def few_resamples(settings) -> None:
    """Enough for what isn't about the bootstrap itself."""
    settings.BOOTSTRAP_RESAMPLES = 20


def past_triggers(act, **values) -> None:
    """Changes rows that the database holds to be for good, as no part of the product can."""
    from django.db import connection

    with connection.cursor() as cursor:
        for statement in drop_triggers(connection):
            cursor.execute(statement)
    act(**values)


# --- the cast ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cast:
    """Alice and Bob rate, Carol administers, Ravi researches; Mallory has an account and belongs nowhere.

    Dora administers another team. Everybody's password is `PASSWORD`.
    """

    team: object
    other_team: object
    alice: object
    bob: object
    carol: object
    ravi: object
    mallory: object
    dora: object
    alice_rater: object
    bob_rater: object


PASSWORD = "lance-and-shield-7"


@pytest.fixture
def cast(db) -> Cast:
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import User

    from arena.raters.models import Membership, Rater, Role, Team

    team = Team.default()
    other_team = Team.objects.create(name="Other team", slug="other")
    password = make_password(PASSWORD)
    names = ("alice", "bob", "carol", "ravi", "mallory", "dora")
    users = {
        name: User.objects.create(username=name, email=f"{name}@example.org", password=password)
        for name in names
    }
    roles = {"alice": Role.RATER, "bob": Role.RATER, "carol": Role.ADMIN, "ravi": Role.RESEARCHER}
    for name, role in roles.items():
        Membership.objects.create(user=users[name], team=team, role=role)
    Membership.objects.create(user=users["dora"], team=other_team, role=Role.ADMIN)
    raters = {
        f"{name}_rater": Rater.objects.create(
            team=team, pseudonym=name, user=users[name], admission=Rater.Admission.LOGIN
        )
        for name in ("alice", "bob")
    }
    return Cast(team=team, other_team=other_team, **users, **raters)


@pytest.fixture
def signed_in(client, cast: Cast):
    """signed_in("carol") is a test client with that person's session."""
    from django.test import Client

    def sign_in(name: str) -> Client:
        visitor = Client()
        visitor.force_login(getattr(cast, name), backend="django.contrib.auth.backends.ModelBackend")
        return visitor

    return sign_in


# --- small campaigns --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SmallCampaign:
    campaign: object
    prompt_set: object
    prompts: list
    competitors: list
    responses: list
    guide: object
    invite: object
    token: str


@pytest.fixture
def make_response(db):
    """make_response(prompt, competitor, "text") with counts and HTML as an import would store them."""
    from arena.corpus.models import Response
    from arena.corpus.style_counts import count_style

    def make(prompt, competitor, text: str, **fields) -> Response:
        counts = asdict(count_style(text))
        return Response.objects.create(
            prompt=prompt,
            competitor=competitor,
            text=text,
            is_blank=not text.strip(),
            text_hash=hashlib.sha256(text.encode()).hexdigest(),
            rendered_html=f"<p>{text}</p>",
            renderer_version=1,
            **counts,
            **fields,
        )

    return make


@pytest.fixture
def make_campaign(db, make_response):
    """A published prompt set, competitors with all responses, a guide, an open campaign, an invite link."""
    from django.utils import timezone

    from arena.campaigns.models import Campaign, Guide, Invite
    from arena.corpus.models import Competitor, Prompt, PromptSet
    from arena.raters.models import Team

    def make_prompts(team, name: str, count: int) -> tuple[PromptSet, list[Prompt]]:
        prompt_set = PromptSet.objects.create(
            team=team, name=name, status=PromptSet.Status.PUBLISHED, published_at=timezone.now()
        )
        return prompt_set, [
            Prompt.objects.create(
                prompt_set=prompt_set,
                external_id=f"p{number}",
                messages=[{"role": "user", "content": f"Prompt number {number}?"}],
                category="reasoning" if number % 2 else "writing",
                language="en",
                is_hard=number % 3 == 0,
                rendered_html=f"<p>Prompt number {number}?</p>",
                renderer_version=1,
            )
            for number in range(count)
        ]

    def make(
        slug: str = "small",
        *,
        team=None,
        prompts: int = 4,
        names: tuple[str, ...] = ("Ember", "Fjord", "Grove"),
        guide_text: str = "Which response helps more?",
        **fields,
    ) -> SmallCampaign:
        team = team or Team.default()
        prompt_set, prompt_rows = make_prompts(team, f"{slug} prompts", prompts)
        competitors = [
            Competitor.objects.get_or_create(team=team, name=name, defaults={"family": name.lower()})[0]
            for name in names
        ]
        responses = [
            make_response(prompt, competitor, f"Reply {number} to {prompt.external_id}, in some words.")
            for prompt in prompt_rows
            for number, competitor in enumerate(competitors)
        ]
        # Repeats come at random; a test that wants them asks for them.
        options = {
            "name": slug.title(),
            "status": Campaign.Status.OPEN,
            "opened_at": timezone.now(),
            "repeat_share": 0,
        }
        # Chosen before it opens, as people do.
        campaign = Campaign.objects.create(team=team, slug=slug, **(options | fields | {"opened_at": None}))
        campaign.prompt_sets.add(prompt_set)
        campaign.competitors.add(*competitors)
        campaign.opened_at = (options | fields)["opened_at"]
        campaign.save(update_fields=["opened_at"])
        guide = Guide.objects.create(
            campaign=campaign,
            version=1,
            text=guide_text,
            sha256=hashlib.sha256(guide_text.encode()).hexdigest(),
        )
        invite, token = Invite.issue(campaign, label="everyone")
        return SmallCampaign(campaign, prompt_set, prompt_rows, competitors, responses, guide, invite, token)

    return make


@pytest.fixture
def small_campaign(make_campaign) -> SmallCampaign:
    return make_campaign()


# --- the browser ------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Debian's Chromium. Where it's missing the test fails in CI and is skipped, with words, elsewhere."""
    if not Path(CHROMIUM).exists():
        words = f"no Chromium at {CHROMIUM}: apt-get install chromium (browser tests need it)"
        pytest.fail(words) if IN_CI else pytest.skip(words)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=CHROMIUM_FLAGS, timeout=60_000
        )
        yield launched
        launched.close()


@pytest.fixture
def open_context(browser) -> Iterator[object]:
    """open_context(**options) knows no cookie of another test, waits a minute, and is closed at the end."""
    opened = []

    def make(**options: object) -> object:
        opened.append(browser.new_context(**options))
        opened[-1].set_default_timeout(60_000)
        return opened[-1]

    yield make
    for context in opened:
        context.close()


@pytest.fixture
def page(open_context) -> object:
    """A page in a context of its own."""
    return open_context(viewport={"width": 1280, "height": 800}, locale="en-GB").new_page()
