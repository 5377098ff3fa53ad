"""Open a recorded example: a digit classifier that is stuck at chance accuracy.

The recording is real: examples/debug_mnist.py wrote it.  Press a for the first alert, and follow
its inputs to the line that needs a fix.  Needs no TensorFlow.
"""

from __future__ import annotations

import tarfile
import tempfile
from importlib import resources
from typing import TYPE_CHECKING

from tfdbg_tui.cli.options import add_app_arguments, app_options
from tfdbg_tui.cli.output import OutputError, put

if TYPE_CHECKING:
    import argparse

_RECORDING = "demo.tar.xz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--extract", metavar="DIR", help="write the recorded logdir to DIR instead of opening it"
    )
    add_app_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Open the recording in the app, or extract it; return the exit code.

    Raises:
        OutputError: It cannot be extracted there.
    """
    if args.extract:
        try:
            extract(args.extract)
        except OSError as error:
            raise OutputError(f"{args.extract} cannot be written: {error.strerror}") from error
        put(args.extract)
        return 0
    from tfdbg_tui.tui import run_app

    with tempfile.TemporaryDirectory(prefix="tfdbg-tui-demo-") as directory:
        extract(directory)
        return run_app(directory, **app_options(args))


def extract(directory: str) -> None:
    """Write the files of the recorded logdir into `directory`."""
    recording = resources.files("tfdbg_tui.cli").joinpath(_RECORDING)
    with recording.open("rb") as file, tarfile.open(fileobj=file) as archive:
        if hasattr(tarfile, "data_filter"):  # which Python 3.11.0 to 3.11.3 lack
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(directory)
