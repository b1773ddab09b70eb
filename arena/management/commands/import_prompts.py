from arena.exchange.command import ImportCommand


class Command(ImportCommand):
    help = "Imports prompts from a file into a prompt set, which is made if it isn't there yet."
    kind = "prompts"

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--set", dest="target", required=True, help="name of the prompt set")
