"""Write what is known of a run into a file to hand on: a web page, or a trace for Perfetto.

    tfdbg-tui report LOGDIR --html report.html    # one file, to attach to an issue
    tfdbg-tui report LOGDIR --trace trace.json    # for ui.perfetto.dev or chrome://tracing

The page holds the diagnosis, the source around each root and suspect, and the tensors that were
bad.  The trace holds each recorded tensor as an event at the time at which it was recorded.

Exit codes are those of diagnose with --html; with --trace alone 0.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.options import add_logdir, add_run
from tfdbg_tui.cli.output import OutputError, tell
from tfdbg_tui.logdir import LogdirError, open_run

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from tfdbg_tui.logdir import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_logdir(parser)
    add_run(parser)
    parser.add_argument("--html", metavar="FILE", help="write a web page that needs nothing else")
    parser.add_argument("--trace", metavar="FILE", help="write Chrome's JSON trace format")


def run(args: argparse.Namespace) -> int:
    """Write the files; return the exit code of the verdict.

    Raises:
        LogdirError: The logdir is unusable, or there is nothing to write.
    """
    if not (args.html or args.trace):
        raise LogdirError("say what to write: --html FILE or --trace FILE")
    chosen = open_run(args.logdir, args.run)
    if args.trace:
        _write(args.trace, _trace(chosen))
    return _write_page(args.html, chosen) if args.html else 0


def _write_page(path: str, run: Run) -> int:
    from tfdbg_tui.cli.page import page_of
    from tfdbg_tui.diagnosis import diagnose, verdict_text

    report = diagnose(run)
    _write(path, [page_of(run, report)])
    tell(f"{path} has been written; {verdict_text(report)}")
    return exit_codes.of_report(report)


def _trace(run: Run) -> Iterable[str]:
    """Yield the text of the trace: it may be larger than memory."""
    from tfdbg_tui.query.trace_events import trace_events

    yield '{"displayTimeUnit": "ms", "traceEvents": ['
    for number, event in enumerate(trace_events(run)):
        yield (",\n" if number else "\n") + json.dumps(event)
    yield "\n]}\n"


def _write(path: str, parts: Iterable[str]) -> None:
    """Write a file.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        with Path(path).open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(parts)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
