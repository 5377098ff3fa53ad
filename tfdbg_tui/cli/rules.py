"""Print the rules by which causes are told, or one of them: why it happens, and what to do.

Rule ids are those of findings: the field "rule" of diagnose --json.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.output import put, tell
from tfdbg_tui.diagnosis import catalogue

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("id", metavar="ID", nargs="?", help="the rule to print; all by default")
    parser.add_argument("--markdown", action="store_true", help="print all rules as a page of text")


def run(args: argparse.Namespace) -> int:
    """Print the rules and return 0."""
    if args.markdown:
        put(catalogue.as_markdown().rstrip())
        return 0
    if args.id is None:
        put("\n".join(map(catalogue.as_line, catalogue.ALL.values())))
        return 0
    rule = catalogue.ALL.get(args.id)
    if rule is None:
        alike = " or ".join(get_close_matches(args.id, catalogue.ALL, n=2))
        hint = f"; did you mean {alike}?" if alike else "; tfdbg-tui rules lists them all"
        tell(f"there is no rule {args.id!r}{hint}")
        return exit_codes.UNUSABLE
    put(catalogue.as_text(rule))
    return 0
