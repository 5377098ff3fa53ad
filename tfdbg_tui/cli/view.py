"""Open a logdir in the terminal app, or several: the processes of a job together.

What other commands there are is told by tfdbg-tui --help.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.cli.options import (
    add_app_arguments,
    add_live_arguments,
    add_logdirs,
    add_run,
    app_options,
    expanded,
    live_options,
)
from tfdbg_tui.logdir import LogdirError

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_logdirs(parser, at_least=1)
    add_run(parser)
    parser.add_argument(
        "--follow",
        action="store_true",
        help="stay on the newest event while the program runs; LOGDIR need not exist yet",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="open on the first root, not where you left it"
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
    logdirs = expanded(args.logdirs)
    if not logdirs:
        raise LogdirError(f"{' '.join(args.logdirs)}: no directory fits")
    return run_app(*logdirs, run=args.run, follow=args.follow, fresh=args.fresh, **options)
