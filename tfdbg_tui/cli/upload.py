"""Upload a dump that could not be uploaded while it was recorded.

    tfdbg-tui upload /tmp/tfdbg-spool-x1y2z3 s3://bucket/logdir

The files in the directory stay. What is behind the URL already is written anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.output import put, tell
from tfdbg_tui.logdir import list_runs
from tfdbg_tui.storage import urls
from tfdbg_tui.storage.upload import Upload, finish, reason_of

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("directory", metavar="DIR", help="where it was recorded")
    parser.add_argument(
        "url", metavar="URL", type=urls.without_secrets, help="the directory it is brought to"
    )


def run(args: argparse.Namespace) -> int:
    """Upload it; return 0, or 2 where that fails.

    Raises:
        LogdirError: The directory holds no dump.
    """
    list_runs(args.directory)
    try:
        failure = finish(Upload(args.directory, args.url))
    except OSError as error:
        failure = reason_of(error)
    if failure:
        tell(f"{args.directory} cannot be uploaded to {args.url}: {failure}")
        return exit_codes.UNUSABLE
    put(f"uploaded: tfdbg-tui {args.url}")
    return 0
