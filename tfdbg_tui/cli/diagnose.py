"""Print what made the first NaN or infinity: the op, the line, the reason and the fix.

Exit codes: 0 clean, 1 alerts, 2 nothing could be read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.report import diagnose
from tfdbg_tui.diagnosis.text import to_text
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("logdir", metavar="LOGDIR", help="directory that a dump writer wrote")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--run", metavar="ID", help="which run, where the logdir holds several")


def run(args: argparse.Namespace) -> int:
    """Print the report; return 1 if something is bad, else 0."""
    report = diagnose(open_run(args.logdir, args.run))
    if args.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        print(to_text(report))
    return 1 if report.verdict == "bad" else 0
