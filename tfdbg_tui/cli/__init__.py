"""The ``tfdbg-tui`` command: one module a subcommand, imported only when it runs.

A subcommand's module defines ``add_arguments(parser)`` and ``run(args) -> exit code``; see
`exit_codes`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from tfdbg_tui import __version__
from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.output import SPELLED, OutputError, put, tell

_COMMANDS = {
    "view": "open a logdir in the terminal app (the default)",
    "info": "print what a logdir holds",
    "diagnose": "print what made the first NaN or infinity, and where",
    "rules": "print the rules by which causes are told",
    "run": "run a program under the dump writer and debug it",
    "demo": "open a recorded example in the terminal app",
}


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=SPELLED)
    if not arguments or arguments[0] in ("-h", "--help", "--version"):
        return _overview(arguments)
    name = arguments.pop(0) if arguments[0] in _COMMANDS else "view"
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
    from tfdbg_tui.logdir import LogdirError

    command = importlib.import_module(f"tfdbg_tui.cli.{name}")
    parser = argparse.ArgumentParser(
        prog="tfdbg-tui" if name == "view" else f"tfdbg-tui {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    try:
        exit_code: int = command.run(parser.parse_args(arguments))
    except (LogdirError, OutputError) as error:
        tell(str(error))
        return exit_codes.UNUSABLE
    return exit_code


def _overview(arguments: list[str]) -> int:
    if "--version" in arguments:
        put(f"tfdbg-tui {__version__}")
        return 0
    lines = [
        "usage: tfdbg-tui [COMMAND] LOGDIR",
        "",
        "Find where NaN and infinity are born in a TensorFlow program.",
        "",
        *(f"  {name:10} {what}" for name, what in _COMMANDS.items()),
        "",
        "tfdbg-tui COMMAND --help tells more of each.",
    ]
    if arguments:
        put("\n".join(lines))
        return 0
    print("\n".join(lines), file=sys.stderr)
    return exit_codes.UNUSABLE
