"""Open a logdir in the terminal app.

Other commands: info, diagnose, run, demo (tfdbg-tui COMMAND --help tells more of each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("logdir", metavar="LOGDIR", help="directory that a dump writer wrote")
    parser.add_argument("--run", metavar="ID", help="which run, where the logdir holds several")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="stay on the newest event while the program runs; LOGDIR need not exist yet",
    )
    add_app_arguments(parser)


def add_app_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that opens the app."""
    parser.add_argument(
        "--at", metavar="WHERE", help="go there first: trace:88, exec:12, an op's name, file.py:120"
    )
    parser.add_argument("--theme", metavar="NAME", help="tfdbg-dark, tfdbg-light, ...")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def app_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_app_arguments` declared, as keyword arguments of `run_app`."""
    return {
        "at": args.at,
        "theme": args.theme,
        "ascii_only": True if args.ascii else None,
        "mouse": not args.no_mouse,
    }


def run(args: argparse.Namespace) -> int:
    """Open the app; return its exit code."""
    from tfdbg_tui.tui import run_app

    return run_app(args.logdir, run=args.run, follow=args.follow, **app_options(args))
