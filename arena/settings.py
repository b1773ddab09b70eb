"""Settings come from the environment; docs/settings.md lists them all. A wrong value raises at start."""

import os
import secrets
import sys
from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from arena.operation.start_lock import start_lock
from arena.queue_clients import import_queue
from arena.setting_checks import (
    check_hosts,
    check_level,
    check_names,
    check_origins,
    make_folder,
    read_key_hosts,
    split_list,
)

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()


def setting(name: str, kind: type, default: object, low: float | None = None, high: float | None = None):
    """One variable, converted and checked against its bounds."""
    try:
        value = env.get_value(name, cast=kind, default=default)
    except ValueError as error:
        words = {int: "a whole number", float: "a number"}.get(kind, kind.__name__)
        raise ImproperlyConfigured(f"{name} must be {words}: {error}") from error
    if (low is not None and value < low) or (high is not None and value > high):
        raise ImproperlyConfigured(f"{name} is {value}; it must lie between {low} and {high}")
    return value


def switch(name: str, default: bool) -> bool:
    value = env.str(name, default="1" if default else "0").strip().lower()
    if value not in {"0", "1", "true", "false", "yes", "no", "on", "off"}:
        raise ImproperlyConfigured(f"{name} is {value!r}; use 1 or 0")
    return value in {"1", "true", "yes", "on"}


def listed(name: str) -> list[str]:
    return split_list(env.str(name, default=""))


# Whatever is made from here on (the database and its log, uploads, exports) is its user's alone.
os.umask(0o077)
DATA_DIR = make_folder(
    "TILTYARD_DATA_DIR", Path(env.str("TILTYARD_DATA_DIR", default=str(BASE_DIR / "var"))).resolve()
)


def read_secret_key() -> str:
    """SECRET_KEY, or one made at the first start and kept beside the database, readable by its owner only."""
    given = env.str("SECRET_KEY", default="")
    if given:
        if len(given) < 40:
            raise ImproperlyConfigured("SECRET_KEY is shorter than 40 characters")
        return given
    path = DATA_DIR / "secret_key"
    try:
        if not path.exists():
            make_secret_key(path)
        key = path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{path} can't be read ({error.strerror}); give it to this user") from None
    if len(key) < 40:
        raise ImproperlyConfigured(f"{path} is empty or cut short; delete it to make a new one")
    return key


def make_secret_key(path: Path) -> None:
    with start_lock(path.parent):
        if not path.exists():
            fresh = path.with_name("secret_key.new")
            fresh.unlink(missing_ok=True)
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_urlsafe(60))
            fresh.rename(path)  # whole or not at all, for those who read without the lock


SECRET_KEY = read_secret_key()
DEBUG = switch("DEBUG", False)
TESTING = "pytest" in sys.modules
ALLOWED_HOSTS = check_names("ALLOWED_HOSTS", listed("ALLOWED_HOSTS")) or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = check_origins("CSRF_TRUSTED_ORIGINS", listed("CSRF_TRUSTED_ORIGINS"))
PUBLIC_URL = env.str("PUBLIC_URL", default="").rstrip("/")
if PUBLIC_URL and urlsplit(PUBLIC_URL).scheme not in {"http", "https"}:
    raise ImproperlyConfigured(f"PUBLIC_URL is {PUBLIC_URL!r}; it must begin with http:// or https://")
HTTPS = switch("TILTYARD_HTTPS", False)
# How many proxies stand in front, each of which adds an address to X-Forwarded-For.
PROXY_COUNT = setting("PROXY_COUNT", int, 0, 0, 10)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "csp",
    "axes",
    "rest_framework",
    "knox",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "huey.contrib.djhuey",
    "arena",
]

MIDDLEWARE = [
    "arena.head_answers.HeadAnswer",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "arena.content_policy.ContentPolicy",
    "arena.api_answers.ApiAnswer",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "arena.languages.RatersLanguage",
    "django.middleware.common.CommonMiddleware",
    "arena.malformed.MalformedAnswer",
    "arena.exchange.limits.UploadLimit",
    "django.middleware.csrf.CsrfViewMiddleware",
    "arena.malformed.MalformedFormAnswer",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "arena.out_of_range.OutOfRangeAnswer",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "arena.urls"
WSGI_APPLICATION = "arena.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["arena.templatetags.figures"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "arena.raters.access.navigation",
            ],
        },
    }
]

SQLITE_OPTIONS = {
    "timeout": 20,
    # A deferred transaction that turns from reading to writing fails at once under load; this one waits.
    "transaction_mode": "IMMEDIATE",
    # FULL: an acknowledged vote survives a power cut.
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA mmap_size=0;"
        "PRAGMA cache_size=-20000;PRAGMA temp_store=MEMORY;PRAGMA journal_size_limit=67108864;"
        # INSERT OR REPLACE deletes too, and must meet the triggers that protect votes.
        "PRAGMA recursive_triggers=ON;"
        # What was redacted or deleted is overwritten in the file.
        "PRAGMA secure_delete=ON;"
    ),
}


def read_database() -> dict:
    url = env.str("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'tiltyard.sqlite3'}")
    try:
        database = env.db_url_config(url)
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL can't be read: {error}") from None
    engine = database.get("ENGINE", "")
    if engine.endswith("sqlite3"):
        database["OPTIONS"] = SQLITE_OPTIONS
    elif not engine.endswith("postgresql"):
        raise ImproperlyConfigured(f"DATABASE_URL names {engine or 'nothing'}; use sqlite:/// or postgres://")
    database["CONN_MAX_AGE"] = 600
    database["CONN_HEALTH_CHECKS"] = True
    return database


DATABASES = {"default": read_database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def read_queue() -> dict:
    """The queue keeps a file of its own: in the application's file it would stand in the votes' way."""
    url = env.str("QUEUE_URL", default=f"sqlite:///{DATA_DIR / 'queue.sqlite3'}")
    scheme = urlsplit(url).scheme
    queue = {"name": "tiltyard", "immediate": TESTING, "results": False, "utc": True}
    if scheme == "sqlite":
        return queue | {"huey_class": "huey.SqliteHuey", "connection": {"filename": queue_file(url)}}
    if scheme in {"redis", "rediss"}:
        return queue | {"huey_class": "huey.RedisHuey", "connection": {"url": url}}
    if scheme in {"postgres", "postgresql"}:
        return queue | {"huey_class": "huey.PostgresHuey", "connection": {"dsn": url}}
    raise ImproperlyConfigured(f"QUEUE_URL begins with {scheme!r}; use sqlite:///, redis:// or postgres://")


def queue_file(url: str) -> str:
    found = url.removeprefix("sqlite:///")
    if found in ("", url):
        raise ImproperlyConfigured(f"QUEUE_URL is {url!r}; for a file write sqlite:///PATH")
    if Path(found).resolve() == Path(DATABASES["default"]["NAME"]).resolve():
        raise ImproperlyConfigured(f"QUEUE_URL names {found}, the database's own file; name another")
    return found


HUEY = read_queue()
import_queue(HUEY["huey_class"])
QUEUE_WORKERS = setting("QUEUE_WORKERS", int, 8, 1, 200)

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "arena.raters.accounts.TokensEndWithThePassword"}]
if TESTING:  # the real hashers are slow on purpose
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 1
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "arena.raters.addresses.client_address"
AXES_ENABLED = not TESTING

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("fr", "French"), ("ar", "Arabic")]
LANGUAGE_COOKIE_AGE = 60 * 60 * 24 * 365
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or TESTING
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG or TESTING

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Each process counting for itself would let a visitor ask once more per process.
    "throttles": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache"
        if TESTING
        else "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(DATA_DIR / "throttles"),
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
}

MAX_UPLOAD_MB = setting("MAX_UPLOAD_MB", int, 100, 1, 10_000)
FILE_UPLOAD_TEMP_DIR = str(DATA_DIR)
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "no-referrer" if HTTPS else "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_ENGINE = "arena.raters.sessions"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 90
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
        "arena.raters.token_auth.TokenAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "arena.pagination.BoundedPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_THROTTLE_CLASSES": ["arena.throttling.StrangerThrottle", "arena.throttling.AccountThrottle"],
    "DEFAULT_SCHEMA_CLASS": "arena.api_errors.SchemaWithErrors",
    "DEFAULT_FILTER_BACKENDS": ["arena.api_filters.KnownParameters"],
    "URL_FORMAT_OVERRIDE": None,
}
API_PER_MINUTE = setting("API_PER_MINUTE", int, 600, 1, 1_000_000)
API_PER_MINUTE_ANONYMOUS = setting("API_PER_MINUTE_ANONYMOUS", int, 120, 1, 1_000_000)
if TESTING:  # a suite asks more often than anybody
    API_PER_MINUTE = API_PER_MINUTE_ANONYMOUS = 1_000_000
REST_KNOX = {"TOKEN_PREFIX": "tilt_"}  # so that a token left in a file can be found
SPECTACULAR_SETTINGS = {
    "TITLE": "Tiltyard",
    "VERSION": "1",
    "DESCRIPTION": "Campaigns, boards and snapshots of a blind arena for language models.",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,  # what is sent and what is answered differ: a file, and its name
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "ImportKindEnum": "arena.exchange.models.Import.Kind",
        "LookKindEnum": "arena.leaderboards.plans.looks.KINDS",
        "CautionCodeEnum": "arena.leaderboards.boards.caution_codes.CODES",
    },
}

# Hosts that an endpoint may name besides public addresses, as host or host:port; a local server must be here.
ENDPOINT_ALLOWED_HOSTS = check_hosts("ENDPOINT_ALLOWED_HOSTS", listed("ENDPOINT_ALLOWED_HOSTS"))
# The one host that a key of this name may go to; a key that isn't here goes where its team first sends it.
ENDPOINT_KEY_HOSTS = read_key_hosts("ENDPOINT_KEY_HOSTS", listed("ENDPOINT_KEY_HOSTS"))
# An open campaign asks for no link, so whoever comes may begin; this many new raters of one address an hour.
NEW_RATERS_PER_HOUR = setting("NEW_RATERS_PER_HOUR", int, 100, 1, 1_000_000)
SNAPSHOT_MINUTES = setting("SNAPSHOT_MINUTES", int, 60, 1, 60 * 24)
BOOTSTRAP_RESAMPLES = setting("BOOTSTRAP_RESAMPLES", int, 1000, 1000, 100_000)
BATTLE_HOURS = setting("BATTLE_HOURS", int, 24, 1, 24 * 30)
EXPORT_DAYS = setting("EXPORT_DAYS", int, 7, 1, 365)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "arena.logs.JsonFormatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {
        "handlers": ["console"],
        "level": check_level("LOG_LEVEL", env.str("LOG_LEVEL", default="WARNING" if TESTING else "INFO")),
    },
    "loggers": {name: {"level": "WARNING"} for name in ("huey", "axes", "httpx2", "openai")},
}
