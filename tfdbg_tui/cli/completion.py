"""Print what lets a shell complete commands, options and paths of tfdbg-tui.

    tfdbg-tui completion bash > ~/.local/share/bash-completion/completions/tfdbg-tui
    tfdbg-tui completion zsh > ~/.zfunc/_tfdbg-tui
    tfdbg-tui completion fish > ~/.config/fish/completions/tfdbg-tui.fish

Needs the library shtab: pip install 'tfdbg-tui[completion]'.
"""

from __future__ import annotations

import argparse

from tfdbg_tui.cli import COMMANDS, parser_of
from tfdbg_tui.cli.output import put
from tfdbg_tui.logdir import LogdirError

_SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", metavar="SHELL", choices=_SHELLS, help=", ".join(_SHELLS))


def run(args: argparse.Namespace) -> int:
    """Print the script and return 0.

    Raises:
        LogdirError: The library is missing.
    """
    try:
        import shtab
    except ImportError as error:
        raise LogdirError("completion needs shtab: pip install 'tfdbg-tui[completion]'") from error
    whole = argparse.ArgumentParser("tfdbg-tui")
    commands = whole.add_subparsers()
    for name, what in COMMANDS.items():
        one = parser_of(name)
        for action in one._actions:
            if action.metavar in _PATHS:  # shtab looks for this attribute
                setattr(action, "complete", getattr(shtab, _PATHS[action.metavar]))  # noqa: B010
        commands.add_parser(name, parents=[one], add_help=False, help=what)
    put(shtab.complete(whole, args.shell))
    return 0


_PATHS = {"LOGDIR": "DIRECTORY", "DIR": "DIRECTORY", "FILE": "FILE", "SCRIPT": "FILE"}
"""Which arguments are paths, by their metavar."""
