"""Open a logdir in the terminal app.

Other commands: info, diagnose, demo (tfdbg-tui COMMAND --help tells more of each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("logdir", metavar="LOGDIR", help="directory that a dump writer wrote")
    add_view_arguments(parser)


def add_view_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that opens the app."""
    parser.add_argument("--run", metavar="ID", help="which run, where the logdir holds several")


def run(args: argparse.Namespace) -> int:
    """Open the app; return its exit code."""
    from tfdbg_tui.tui import run_app

    return run_app(args.logdir, run=args.run)
