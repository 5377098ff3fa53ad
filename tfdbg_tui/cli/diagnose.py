"""Print what made the first NaN or infinity: the op, the line, the reason and the fix.

    tfdbg-tui diagnose LOGDIR
    tfdbg-tui diagnose LOGDIR --json | jq '.roots[0].location'
    tfdbg-tui diagnose LOGDIR --follow --until bad && echo "not reached"

Exit codes: 0 clean, 1 alerts, 2 nothing could be read.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.report import Report, diagnose
from tfdbg_tui.diagnosis.text import to_text
from tfdbg_tui.logdir import LogdirError, RunReader, list_runs, open_run

if TYPE_CHECKING:
    import argparse

    from tfdbg_tui.logdir import RunFiles

_LOOK_SECONDS = 0.5
_CONFIRM_SECONDS = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("logdir", metavar="LOGDIR", help="directory that a dump writer wrote")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--run", metavar="ID", help="which run, where the logdir holds several")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="keep reading while the program writes; report when interrupted (Ctrl-C)",
    )
    parser.add_argument(
        "--until",
        choices=["bad"],
        help="with --follow: report, and end, as soon as something is bad",
    )


def run(args: argparse.Namespace) -> int:
    """Print the report; return 1 if something is bad, else 0.

    Raises:
        LogdirError: There is nothing to read.
    """
    if args.until and not args.follow:
        raise LogdirError("--until needs --follow: without it, the logdir is read once")
    report = _follow(args) if args.follow else diagnose(open_run(args.logdir, args.run))
    if args.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        print(to_text(report))
    return 1 if report.verdict == "bad" else 0


def _follow(args: argparse.Namespace) -> Report:
    """Read a run while it grows, until it is bad or the user has seen enough."""
    reader: RunReader | None = None
    seen = 0
    try:
        reader = RunReader(_wait_for_run(args))
        while True:
            snapshot = reader.poll()
            if not snapshot.progress.complete:
                continue
            if args.until and snapshot.num_alerts != seen:
                # What takes a bad value out again may not have been written yet: look twice.
                seen = snapshot.num_alerts
                time.sleep(_CONFIRM_SECONDS)
                report = diagnose(reader.read_all())
                if report.verdict == "bad":
                    return report
            time.sleep(_LOOK_SECONDS)
    except KeyboardInterrupt:
        if reader is None:
            raise
        return diagnose(reader.read_all())


def _wait_for_run(args: argparse.Namespace) -> RunFiles:
    told = False
    while True:
        try:
            runs = list_runs(args.logdir)
        except LogdirError as error:
            if not told:
                print(f"tfdbg-tui: waiting: {error}", file=sys.stderr)
                told = True
            runs = []
        chosen = [files for files in runs if args.run in (None, files.label)]
        if chosen:
            return chosen[-1]
        time.sleep(_LOOK_SECONDS)
