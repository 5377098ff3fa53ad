"""Arguments that several commands share, and what they mean to the app."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tfdbg_tui.cli.config import read_config
from tfdbg_tui.storage.patterns import is_pattern, matching
from tfdbg_tui.storage.urls import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


LOGDIR_HELP = "directory, or URL of one (s3://, gs://, sftp://, http://, ...), of a dump writer"


def add_logdir(parser: argparse.ArgumentParser) -> None:
    """Declare the directory that a command reads."""
    parser.add_argument(
        "logdir",
        metavar="LOGDIR",
        type=without_secrets,
        help=LOGDIR_HELP,
    )


def add_logdirs(parser: argparse.ArgumentParser, *, at_least: int = 0) -> None:
    """Declare the directories that a command reads together."""
    parser.add_argument(
        "logdirs",
        metavar="LOGDIR",
        type=without_secrets,
        nargs="+" if at_least else "*",
        help=f"{LOGDIR_HELP}; of a job several, or one above them",
    )


def expanded(paths: Sequence[str]) -> list[str]:
    """Return paths with patterns, which a shell may have been kept from, replaced by what fits.

    A pattern stays where its server does not answer: whoever opens it tells why.
    """
    found: list[str] = []
    for path in paths:
        try:
            found += matching(path) if is_pattern(path) else [path]
        except OSError:
            found.append(path)
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
    _add_switch(parser, "ascii", "draw with ASCII characters only")
    _add_switch(parser, "mouse", "take the mouse, or leave it to the terminal")


def _add_switch(parser: argparse.ArgumentParser, name: str, what: str) -> None:
    """Declare ``--name`` and ``--no-name``; where neither is given, the user's file decides."""
    parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=what)


def add_live_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that watches a program."""
    parser.add_argument(
        "--until",
        choices=["bad"],
        help="while following: stop at the first NaN or infinity and go to its root",
    )
    parser.add_argument("--bell", action="store_true", help="ring the bell there")
    _add_switch(parser, "slow", "update the screen less often (as over SSH)")


def app_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_app_arguments` declared, as keyword arguments of `run_app`."""
    config = read_config()
    mouse = _chosen(args.mouse, config, "mouse")
    return {
        "at": args.at,
        "theme": _chosen(args.theme, config, "theme"),
        "ascii_only": _chosen(args.ascii, config, "ascii"),
        "mouse": True if mouse is None else mouse,
        "pane_sizes": {
            axis: tuple(config[name])
            for axis, name in (("columns", "pane_columns"), ("rows", "pane_rows"))
            if name in config
        },
    }


def live_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_live_arguments` declared, as keyword arguments of `run_app`."""
    return {
        "until_bad": args.until == "bad",
        "bell": args.bell,
        "slow": _chosen(args.slow, read_config(), "slow"),
    }


def _chosen(given: Any, config: Mapping[str, Any], name: str) -> Any:
    """Return what the command line says, else the user's file; None where neither does."""
    return config.get(name) if given is None else given
