"""Open a logdir in the terminal app.

Other commands: info, diagnose, run, demo (tfdbg-tui COMMAND --help tells more of each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.cli.options import (
    add_app_arguments,
    add_live_arguments,
    add_logdir,
    add_run,
    app_options,
    live_options,
)
from tfdbg_tui.logdir import LogdirError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_logdir(parser)
    add_run(parser)
    parser.add_argument(
        "--follow",
        action="store_true",
        help="stay on the newest event while the program runs; LOGDIR need not exist yet",
    )
    add_live_arguments(parser)
    add_app_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Open the app; return its exit code.

    Raises:
        LogdirError: There is no such logdir, or nothing to do that was asked for.
    """
    from tfdbg_tui.tui import run_app

    if args.until and not args.follow:
        raise LogdirError("--until needs --follow: without it, there is nothing to wait for")
    options = {**app_options(args), **live_options(args)}
    return run_app(args.logdir, run=args.run, follow=args.follow, **options)
