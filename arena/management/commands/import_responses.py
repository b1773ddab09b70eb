from arena.exchange.command import ImportCommand


class Command(ImportCommand):
    help = "Imports responses to the prompts of a prompt set; models that are new are made."
    kind = "responses"

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--set", dest="target", required=True, help="name of the prompt set")
        parser.add_argument(
            "--model", default="", help="whose responses they all are, if the file doesn't say"
        )
        parser.add_argument(
            "--model-column",
            dest="model_columns",
            action="append",
            default=[],
            metavar="COLUMN",
            help="a column that holds the responses of the model it is named after; once for each model",
        )
