"""The ``tfdbg-tui`` command: one module a subcommand, imported only when it runs.

A subcommand's module defines ``add_arguments(parser)`` and ``run(args) -> exit code``; see
`exit_codes`.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
import textwrap
from functools import partial
from typing import Any, NoReturn

from tfdbg_tui import __version__
from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.output import SPELLED, OutputError, put, tell

COMMANDS = {
    "view": "open a logdir in the terminal app (the default)",
    "info": "print what a logdir holds",
    "diagnose": "print what made the first NaN or infinity, and where",
    "diff": "compare two runs of a program: what is finite in one and NaN in the other",
    "query": "print the recorded tensors that a filter selects; as JSON, CSV, Parquet",
    "report": "write a web page to attach to an issue, or a trace for Perfetto",
    "rules": "print the rules by which causes are told",
    "run": "run a program under the dump writer and debug it",
    "upload": "send a dump to a URL that could not be reached while it was recorded",
    "mcp": "serve a logdir to coding agents",
    "demo": "open a recorded example in the terminal app",
    "completion": "print what lets a shell complete all this",
}
"""The commands, and what each does."""


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if sys.stderr is None:  # The shell has closed it: nobody is to be told.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=SPELLED)
    if not arguments or arguments[0] in ("-h", "--help", "-V", "--version"):
        return _overview(arguments)
    if _means_nothing(arguments):
        meant = next(iter(difflib.get_close_matches(arguments[0], COMMANDS, 1, 0.7)), None)
        rest = f"did you mean {meant}?" if meant else "tfdbg-tui --help lists the commands"
        tell(f"there is no command or directory {arguments[0]}; {rest}")
        return exit_codes.UNUSABLE
    name = arguments.pop(0) if arguments[0] in COMMANDS else "view"
    try:
        return run_command(name, arguments)
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except Exception as error:
        if "TFDBG_TUI_TRACEBACK" in os.environ:
            raise
        # Exit code 1 says that there are alerts, so nothing may end in Python's own way.
        tell(f"{name} cannot answer: {type(error).__name__}: {error}")
        tell("that is a defect: please report it with what TFDBG_TUI_TRACEBACK=1 shows")
        return exit_codes.UNUSABLE


def run_command(name: str, arguments: list[str]) -> int:
    """Run a subcommand and return its exit code; errors that it did not expect come through."""
    from tfdbg_tui.cli.config import ConfigError
    from tfdbg_tui.logdir import LogdirError

    command = _module_of(name)
    try:
        exit_code: int = command.run(_parsed(name, arguments))
    except (ConfigError, LogdirError, OutputError) as error:
        tell(str(error))
        return exit_codes.UNUSABLE
    return exit_code


def _parsed(name: str, arguments: list[str]) -> argparse.Namespace:
    parser = parser_of(name)
    if name != "run":
        return parser.parse_args(arguments)
    own = parser.up_to_script(arguments)
    parsed = parser.parse_args(arguments[:own])
    parsed.arguments = arguments[own:]
    return parsed


def parser_of(name: str) -> _Parser:
    """Return what parses the arguments of a subcommand."""
    command = _module_of(name)
    parser = _Parser(
        prog="tfdbg-tui" if name == "view" else f"tfdbg-tui {name}",
        description=command.__doc__,
        formatter_class=_HelpFormatter,
    )
    command.add_arguments(parser)
    return parser


class _HelpFormatter(argparse.HelpFormatter):
    """Makes the paragraphs of a description as wide as the terminal; examples stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """See `argparse`."""
        paragraphs = text.strip("\n").split("\n\n")
        fill = partial(textwrap.fill, width=width, break_on_hyphens=False, break_long_words=False)
        return "\n\n".join(one if one.startswith(" ") else fill(one) for one in paragraphs)


class _Parser(argparse.ArgumentParser):
    """Says which option a mistyped one is likely to be."""

    def up_to_script(self, arguments: list[str]) -> int:
        """Return how many arguments there are up to the program, which gets all others.

        `argparse` looks for options among those, too: it drops a "--", and does not go on where
        one of them begins as several options do.
        """
        position = 0
        while position < len(arguments):
            word = arguments[position]
            if word == "--":
                return position + 2
            if not word.startswith("-") or word == "-":
                return position + 1
            position += 2 if self._takes_value(word) else 1
        return position

    def _takes_value(self, word: str) -> bool:
        """Whether an option, or how it begins, takes the argument behind it."""
        options = {option: action for action in self._actions for option in action.option_strings}
        meant = [word] if word in options else [o for o in options if o.startswith(word)]
        return len(meant) == 1 and options[meant[0]].nargs is None

    def error(self, message: str) -> NoReturn:
        """See `argparse`."""
        from tfdbg_tui.logdir.text import printable  # With NumPy, which the start needs not.

        typed = [word.partition("=")[0] for word in message.split() if word.startswith("--")]
        known = [option for action in self._actions for option in action.option_strings]
        if message.startswith("unrecognized arguments") and typed:
            meant = difflib.get_close_matches(typed[0], known, 1, 0.7)
            message += f"; did you mean {meant[0]}?" if meant else ""
        super().error(printable(message))  # A shell's * may have put names of files there.


def _module_of(name: str) -> Any:
    return importlib.import_module(f"tfdbg_tui.cli.{name}")


def _means_nothing(arguments: list[str]) -> bool:
    """Whether the first argument is a plain word that is no command, and nothing that is there."""
    word = arguments[0]
    is_word = not word.startswith("-") and not any(sign in word for sign in "/*?[")
    to_come = any(argument.startswith("--fo") for argument in arguments)  # --follow waits for it
    return is_word and word not in COMMANDS and not os.path.exists(word) and not to_come


def _overview(arguments: list[str]) -> int:
    if arguments and arguments[0] in ("-V", "--version"):
        put(f"tfdbg-tui {__version__}")
        return 0
    lines = [
        "usage: tfdbg-tui [COMMAND] LOGDIR",
        "",
        "Find where NaN and infinity are born in a TensorFlow program.",
        "",
        *(f"  {name:10} {what}" for name, what in COMMANDS.items()),
        "",
        "tfdbg-tui COMMAND --help tells more of each.",
    ]
    if arguments:
        put("\n".join(lines))
        return 0
    print("\n".join(lines), file=sys.stderr)
    return exit_codes.UNUSABLE
