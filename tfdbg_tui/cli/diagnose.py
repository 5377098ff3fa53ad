"""Print what made the first NaN or infinity: the op, the line, the reason and the fix.

    tfdbg-tui diagnose LOGDIR
    tfdbg-tui diagnose LOGDIR --json | jq '.roots[0].location'
    tfdbg-tui diagnose LOGDIR --follow --until bad && echo "not reached"
    tfdbg-tui diagnose worker-*/    # the processes of a job, together

With several directories, or one that holds the processes of a distributed job, the report says
which process was first and whom its bad values reached.

With --follow it reports when the program ends. That can be told on the host it runs on; for a
program on another host, or in another container, give --timeout.

Exit codes: 0 clean, or suspect only; 1 bad: NaN or infinity; 2 no answer: unusable arguments, an
unreadable logdir, or nothing recorded; 3 incomplete: nothing bad on record, but not everything is.
With --until suspect a run with suspects exits with 1 as well.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.options import add_logdirs, add_run, expanded
from tfdbg_tui.cli.output import put_report, tell
from tfdbg_tui.cli.watch import UNTIL, Watch
from tfdbg_tui.diagnosis import (
    BUFFERING,
    Report,
    StatusTracker,
    diagnose,
    fleet_to_text,
    to_text,
)
from tfdbg_tui.logdir import LogdirError, RunReader, list_runs, open_run
from tfdbg_tui.logdir.processes import are_of_a_cluster
from tfdbg_tui.logdir.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from tfdbg_tui.diagnosis import RecordingStatus
    from tfdbg_tui.logdir import Run, RunFiles

_LOOK_SECONDS = 0.2
_COUNT_SECONDS = 10.0  # between two counts on standard error
_SILENCE_SECONDS = 60.0  # that are worth a word
_SILENT = (
    "nothing new for a minute; whether the program lives cannot be told from its files: "
    "Ctrl-C reports now, --timeout SECONDS by itself"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_logdirs(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_run(parser)
    parser.add_argument(
        "--summaries",
        metavar="DIR",
        help="instead of logdirs: join what run --headless --summary has written into DIR",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="with several logdirs: read N at once (default: as many as there are processors)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="with several logdirs: let a Dask cluster read them, as tcp://host:8786",
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="keep reading while the program writes; report when it ends, or on Ctrl-C",
    )
    parser.add_argument(
        "--until",
        choices=UNTIL,
        help="with --follow: report, and end, as soon as something is bad, or suspect",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="with --follow: report when nothing has been written for so long (default: wait on)",
    )


def run(args: argparse.Namespace) -> int:
    """Print the report; return the exit code of its verdict.

    Raises:
        LogdirError: There is nothing to read.
    """
    if args.until and not args.follow:
        raise LogdirError("--until needs --follow: without it, the logdir is read once")
    if args.timeout is not None and not args.follow:
        raise LogdirError("--timeout needs --follow: without it, the logdir is read once")
    if args.timeout is not None and not args.timeout >= 0:
        raise LogdirError("--timeout takes a number of seconds from 0 on")
    if args.jobs is not None and args.jobs < 1:
        raise LogdirError("--jobs takes a number from 1 on")
    return put_diagnosis(args, suspects_are_bad=args.until == "suspect")


def put_diagnosis(args: argparse.Namespace, *, suspects_are_bad: bool) -> int:
    """Print the report; return the exit code of its verdict.

    Args:
        args: The command's arguments, as far as they have been checked.
        suspects_are_bad: Whether suspects have the exit code of what is bad.
    """
    if _is_of_fleet(args):
        return _run_fleet(args)
    _say_what_is_for_several(args)
    report = _follow(args) if args.follow else diagnose(open_run(args.logdirs[0], args.run))
    put_report(report, to_text, as_json=args.json)
    if suspects_are_bad and report.suspects:
        return exit_codes.BAD
    return exit_codes.of_report(report)


def _say_what_is_for_several(args: argparse.Namespace) -> None:
    """Say which options make no difference to one run."""
    given = {"--jobs": args.jobs, "--scheduler": args.scheduler}
    names = [name for name, value in given.items() if value is not None]
    if names:
        does = "does" if len(names) == 1 else "do"
        tell(f"{' and '.join(names)} {does} nothing here: this is one run, not several logdirs")


def _is_of_fleet(args: argparse.Namespace) -> bool:
    """Whether the report is to be on several logdirs or a job, rather than on one run."""
    if args.summaries:
        if args.logdirs or args.follow or args.run:
            raise LogdirError("--summaries takes neither logdirs nor --follow nor --run")
        return True
    if not args.logdirs:
        raise LogdirError("give a LOGDIR, or several, or --summaries DIR")
    if len(args.logdirs) > 1 or expanded(args.logdirs) != args.logdirs:
        if args.follow or args.run:
            raise LogdirError("--follow and --run take one LOGDIR")
        return True
    if args.follow or args.run is not None:
        return False
    runs = list_runs(args.logdirs[0])
    if are_of_a_cluster(runs):
        return True
    _say_which_run(runs)
    return False


def _say_which_run(runs: Sequence[RunFiles]) -> None:
    """Say which run the report is about where none was chosen of several."""
    if len(runs) > 1:
        newest = runs[-1]
        is_only = [files.label for files in runs].count(newest.label) == 1
        which = f"--run {newest.label}" if is_only else f"in {newest.directory}"  # of copies
        if are_of_a_cluster(runs):
            words = "processes of a job; --follow looks at the newest alone"
            tell(f"{len(runs)} {words}, {which}: without it the report is on all")
        else:
            tell(f"{len(runs)} runs; this is about the newest, {which}")


def _run_fleet(args: argparse.Namespace) -> int:
    from tfdbg_tui.cli import fleet  # A single run needs none of it.

    if args.summaries:
        report = fleet.diagnose_summaries(args.summaries)
    else:
        report = fleet.diagnose_logdirs(expanded(args.logdirs), args.jobs, args.scheduler)
    put_report(report, fleet_to_text, as_json=args.json)
    return exit_codes.of_fleet(report)


def _follow(args: argparse.Namespace) -> Report:
    """Read a run while it grows, until it shows what is waited for, ends, or the user says so."""
    reader: RunReader | None = None
    tracker, teller = StatusTracker(), _Teller()
    try:
        reader = RunReader(_wait_for_run(args, teller))
        watch = Watch(reader, args.until or "")
        while True:
            snapshot = reader.poll()
            tracker.note(snapshot)
            if not snapshot.progress.complete:
                continue
            report = watch.look(snapshot)
            if report is not None:
                return report
            status = tracker.status()
            assert status is not None
            teller.tell(snapshot, status)
            if _is_over(status, args.timeout):
                return diagnose(reader.read_all())
            time.sleep(_LOOK_SECONDS)
    except KeyboardInterrupt:
        if reader is None:
            raise
        return diagnose(reader.read_all())


def _is_over(status: RecordingStatus, timeout: float | None) -> bool:
    """Whether nothing more is to come, or for long enough nothing has come."""
    if status.phase in ("ended", "deleted"):
        return True
    return timeout is not None and status.silent >= timeout


class _Teller:
    """Tells on standard error how it goes: each thing once, and counts now and then."""

    def __init__(self) -> None:
        self._last = ""
        self._next_count = 0.0

    def say(self, words: str) -> None:
        """Tell something, unless it was the last thing told."""
        if words != self._last:
            tell(words)
            self._last = words

    def tell(self, run: Run, status: RecordingStatus) -> None:
        """Tell how a run is doing."""
        if run.connection_problem:
            self.say("the connection to the logdir is lost; trying again")
        elif status.phase == "buffering":
            self.say(BUFFERING)
        elif status.phase == "recording" and time.monotonic() >= self._next_count:
            self._next_count = time.monotonic() + _COUNT_SECONDS
            self.say(f"{counted(run.num_events, 'event')}, {counted(run.num_alerts, 'alert')}")
        elif status.phase == "ended":
            how = "was killed or crashed" if run.state.killed else "has ended"
            self.say(f"the program {how}")
        elif status.phase == "silent" and status.silent >= _SILENCE_SECONDS:
            self.say(_SILENT)


def _wait_for_run(args: argparse.Namespace, teller: _Teller) -> RunFiles:
    while True:
        try:
            runs = list_runs(args.logdirs[0])
        except LogdirError as error:
            teller.say(f"waiting: {error}")
            runs = []
        chosen = [files for files in runs if args.run in (None, files.label)]
        if chosen:
            _say_which_run(chosen)
            return chosen[-1]
        time.sleep(_LOOK_SECONDS)
