"""Arguments that several commands share, and what they mean to the app."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Any

from tfdbg_tui.storage.urls import is_url, without_secrets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def add_logdir(parser: argparse.ArgumentParser) -> None:
    """Declare the directory that a command reads."""
    parser.add_argument(
        "logdir",
        metavar="LOGDIR",
        type=without_secrets,
        help="directory, or URL of one (s3://, gs://, sftp://, http://, ...), of a dump writer",
    )


def add_logdirs(parser: argparse.ArgumentParser) -> None:
    """Declare the directories that a command reads together."""
    parser.add_argument(
        "logdirs",
        metavar="LOGDIR",
        type=without_secrets,
        nargs="*",
        help="directory, or URL of one (s3://, gs://, sftp://, http://, ...), of a dump writer; "
        "of a job several, or one above them",
    )


def expanded(paths: Sequence[str]) -> list[str]:
    """Return paths with patterns, which a shell may have been kept from, replaced by what fits."""
    found: list[str] = []
    for path in paths:
        is_pattern = not is_url(path) and glob.has_magic(path) and not os.path.exists(path)
        found += sorted(glob.glob(os.path.expanduser(path))) if is_pattern else [path]
    return list(dict.fromkeys(found))


def add_run(parser: argparse.ArgumentParser) -> None:
    """Declare the choice of a run."""
    parser.add_argument("--run", metavar="ID", help="which run, where the logdir holds several")


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
