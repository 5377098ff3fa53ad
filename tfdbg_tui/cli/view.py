"""Open a logdir in the terminal app.

Other commands: info, diagnose, run, demo (tfdbg-tui COMMAND --help tells more of each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdbg_tui.logdir import LogdirError

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
    add_live_arguments(parser)
    add_app_arguments(parser)


def add_app_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that opens the app."""
    parser.add_argument(
        "--at", metavar="WHERE", help="go there first: trace:88, exec:12, an op's name, file.py:120"
    )
    parser.add_argument("--theme", metavar="NAME", help="tfdbg-dark, tfdbg-light, ...")
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def add_live_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that watches a program."""
    parser.add_argument(
        "--until",
        choices=["bad"],
        help="while following: stop at the first NaN or infinity and go to its root",
    )
    parser.add_argument("--bell", action="store_true", help="ring the bell there")
    parser.add_argument(
        "--slow", action="store_true", help="update the screen less often (as over SSH)"
    )


def app_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_app_arguments` declared, as keyword arguments of `run_app`."""
    return {
        "at": args.at,
        "theme": args.theme,
        "ascii_only": True if args.ascii else None,
        "mouse": not args.no_mouse,
    }


def live_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_live_arguments` declared, as keyword arguments of `run_app`."""
    return {
        "until_bad": args.until == "bad",
        "bell": args.bell,
        "slow": True if args.slow else None,
    }


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
