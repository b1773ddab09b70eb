import os
from argparse import BooleanOptionalAction
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from arena.operation import local_judge, programs
from arena.operation.health import unapplied_migrations
from arena.operation.prepare import DemoFailedError, prepare, ways_in
from arena.operation.start_lock import sole_run
from arena.operation.supervisor import Supervisor

# An endpoint's seats are counted by each consumer for itself.
BESIDE_ANOTHER = (
    "Another Tiltyard runs over {folder} already. Both serve the same campaigns and no vote is lost, but"
    " work in the background is done by both: models are asked by twice as many at once as"
    " their endpoints allow. End one of them, or give this one a data folder of its own (TILTYARD_DATA_DIR)."
)


class Command(BaseCommand):
    help = "Runs the web server and the queue's consumer until told to stop (Ctrl-C or SIGTERM)."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("--port", type=int, help="port to listen on; else the setting PORT, else 8000")
        parser.add_argument(
            "--prepare",
            action="store_true",
            help="first migrate, collect static files, make the admin's account and print where to go",
        )
        parser.add_argument(
            "--demo",
            action=BooleanOptionalAction,
            default=False,
            help="with --prepare: fill an empty database with the demo campaign",
        )
        parser.add_argument(
            "--with-local-llm",
            action="store_true",
            help="also run a small LLM on this machine and register it as an endpoint",
        )

    def handle(self, *, port, with_local_llm: bool, **flags):
        if port is not None:
            os.environ["PORT"] = str(port)
        options = programs.Options()
        try:
            with (
                programs.listen(options.bind, options.port) as listener,
                sole_run(settings.DATA_DIR) as is_alone,
            ):
                if not is_alone:
                    self.say(BESIDE_ANOTHER.format(folder=settings.DATA_DIR))
                if flags["prepare"]:
                    prepare(self.say, demo=flags["demo"])
                else:
                    self.insist_on_preparation()
                if with_local_llm:
                    self.register_local_llm(options)
                connections.close_all()
                code = self.supervise(options, listener, with_local_llm, flags["prepare"])
        except (programs.PortInUseError, DemoFailedError) as error:
            raise CommandError(str(error)) from error
        self.say("Stopped." if code == 0 else "Stopped after a failure.")
        raise SystemExit(code)

    def insist_on_preparation(self):
        if unapplied_migrations():
            raise CommandError(
                "The database isn't up to date: run `./tiltyard manage migrate`, or add --prepare."
            )
        if not (Path(settings.STATIC_ROOT) / "staticfiles.json").is_file():
            raise CommandError(
                "Static files aren't collected: run `./tiltyard manage collectstatic`, or add --prepare."
            )

    def register_local_llm(self, options):
        programs.check_free(options.local_llm_port)
        judge, made = local_judge.register(options.local_llm_host)
        if made:
            self.say(f"New endpoint and judge “{judge.name}”: a tiny model and a poor judge, good for a try.")

    def supervise(self, options, listener, local_llm: bool, greet: bool) -> int:
        environment = dict(os.environ)
        if local_llm:
            environment = programs.environment_with_host(options.local_llm_host)
        children = [
            programs.web_server(options, listener, environment),
            programs.consumer(options, environment),
        ]
        if local_llm:
            children.append(programs.local_llm(options, environment))
        return Supervisor(
            children,
            self.say,
            drain_seconds=options.drain_seconds + programs.KILL_AFTER_SECONDS,
            at_start=(lambda: self.greet(options.port)) if greet else lambda: None,
            at_stop=listener.close,
        ).run()

    def greet(self, port: int):
        """While the children start: the first page needn't wait for it."""
        for line in ways_in(port):
            self.say(line)
        connections.close_all()

    def say(self, words: str):
        self.stdout.write(words)
        self.stdout.flush()
