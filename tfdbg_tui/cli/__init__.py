"""The ``tfdbg-tui`` command: one module a subcommand, imported when it runs."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return its exit code."""
    raise NotImplementedError(argv)
