"""Run a program under the dump writer, unchanged, and debug it while it runs.

    tfdbg-tui run train.py --epochs 3
    tfdbg-tui run -m my.package.train
    tfdbg-tui run --headless train.py && echo "no NaN, no infinity"

The program runs in a process of its own, with this Python and its TensorFlow.  What it prints is
kept in a program.*.log of the logdir.  It goes on when the connection to this terminal is cut: open
its logdir again.  With --headless there is no app: standard input and signals are the program's,
its output goes to standard error, the diagnosis to standard output.

Exit codes of --headless: 1 bad: NaN or infinity; else that of the program, where it failed (128 + n
where signal n ended it); else those of diagnose: 0 clean, or suspect only; 2 nothing was recorded;
3 incomplete: nothing bad on record, but not everything is.  With --stop-on-suspect it is 1 too
where that has stopped the program.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, BinaryIO

from tfdbg_tui.cli import exit_codes
from tfdbg_tui.cli.options import add_app_arguments, add_live_arguments, app_options, live_options
from tfdbg_tui.cli.output import put_error, silence, tell
from tfdbg_tui.dump.options import validated
from tfdbg_tui.logdir import LogdirError, list_runs
from tfdbg_tui.logdir.processes import are_of_a_cluster
from tfdbg_tui.program import DEFAULTS, Program, new_logdir
from tfdbg_tui.storage import urls
from tfdbg_tui.storage.spool import Spool
from tfdbg_tui.user_files import make_private_directory
from tfdbg_tui.wire import filesets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.wire.filesets import FileSet

_COPY_SECONDS = 0.1
_OF_TERMINALS = signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP
"""What a terminal sends to all processes in front; other signals are sent to one."""
_FOR_THE_PROGRAM = *_OF_TERMINALS, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments; those of the dump writer are named as its API names them."""
    parser.add_argument(
        "--logdir",
        metavar="DIR",
        type=urls.without_secrets,
        help="where to write: a directory, or a URL to upload to (default: a new one, printed)",
    )
    parser.add_argument("--headless", action="store_true", help="no app; diagnose at the end")
    parser.add_argument("--json", action="store_true", help="the headless diagnosis as JSON")
    parser.add_argument(
        "--summary",
        metavar="FILE",
        help="with --headless: write there, as JSON, what diagnose --summaries joins for a job",
    )
    parser.add_argument(
        "--stop-on-bad", action="store_true", help="stop the program at the first NaN or infinity"
    )
    parser.add_argument(
        "--stop-on-suspect",
        action="store_true",
        help="with --headless: stop the program when something is suspect, or bad",
    )
    parser.add_argument("--tensor-debug-mode", metavar="MODE", help="default: ADAPTIVE")
    parser.add_argument(
        "--circular-buffer-size",
        type=int,
        metavar="N",
        help="keep the last N events only (default: all)",
    )
    parser.add_argument("--op-regex", metavar="REGEX", help="record only ops whose type matches")
    parser.add_argument("--every", type=int, metavar="K", help="record one training step in K")
    parser.add_argument(
        "--steps", metavar="A..B", help="record only the training steps from A to B: 1000..1010"
    )
    parser.add_argument(
        "--layers", metavar="NAMES", help="record only what layers compute: 'encoder*,head'"
    )
    parser.add_argument(
        "--functions", metavar="NAMES", help="record only what Python functions compute: 'loss*'"
    )
    parser.add_argument(
        "--lines", metavar="LINES", help="record only what lines compute: train.py:40..60,model.py"
    )
    parser.add_argument(
        "--magnitudes-every",
        type=int,
        metavar="K",
        help="record the smallest and largest elements in one step in K besides some of the first "
        "(0: never; by default 100)",
    )
    parser.add_argument(
        "--max-gigabytes",
        type=float,
        metavar="X",
        help="record no more than what is bad when the files of a process hold so many (default: "
        "more than is left free on their disk)",
    )
    add_live_arguments(parser)
    add_app_arguments(parser)
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT names a module")
    parser.add_argument("script", metavar="SCRIPT", help="path of the program")
    arguments = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="the program's own arguments"
    )
    arguments.required = False  # as argparse knows by itself from Python 3.13 on


def run(args: argparse.Namespace) -> int:
    """Run the program and debug it; return the exit code.

    Raises:
        LogdirError: There is no such program, it cannot be recorded as the arguments ask, or its
            logdir cannot be made.
    """
    _check_program(args)
    _check_headless(args)
    _check_python()
    options = _dump_options(args)
    try:
        spool = Spool(args.logdir) if urls.is_known(args.logdir or "") else None
        logdir = spool.directory if spool else args.logdir or new_logdir(args.script)
        make_private_directory(logdir)
    except OSError as error:
        directory = error.filename or args.logdir or "the logdir"
        raise LogdirError(f"{directory}: cannot be made: {error.strerror}") from None
    tell(f"the program's logdir is {logdir}" + f", uploaded to {args.logdir}" * bool(spool))
    program = Program(logdir, _python_arguments(args), options, spool)
    try:
        if args.headless:
            return _run_headless(program, args)
        return _run_with_app(program, args)
    finally:
        if spool is not None and not program.running:
            spool.finish()


def _check_program(args: argparse.Namespace) -> None:
    if args.is_module:
        package = args.script.partition(".")[0]
        if not package.isidentifier() or not _finds(package):
            raise LogdirError(f"{args.script}: no such module; give the name as for python -m")
    elif os.path.isdir(args.script):
        if not os.path.isfile(os.path.join(args.script, "__main__.py")):
            raise LogdirError(f"{args.script}: a directory without a __main__.py")
    elif not os.path.isfile(args.script):
        raise LogdirError(f"{args.script}: no such program; give the path of a Python script")


def _finds(package: str) -> bool:
    """Whether there is a package or module, where the program would look for it."""
    path = ["", *sys.path]
    return package in sys.builtin_module_names or any(
        finder.find_spec(package, path) for finder in sys.meta_path
    )


def _check_python() -> None:
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise LogdirError(
            "with its options -E, -I and -S Python keeps the dump writer out; run without them"
        )


def _run_with_app(program: Program, args: argparse.Namespace) -> int:
    """Open the app, which starts the program, and asks what shall become of it when it is left."""
    from tfdbg_tui.tui import run_app

    options = {**app_options(args), **live_options(args)}
    try:
        return run_app(program.logdir, follow=True, program=program, **options)
    finally:
        if program.started:
            _report(program)


def _report(program: Program) -> None:
    program.tell_failure()
    logdir = program.spool.url if program.spool else program.logdir
    for line in (
        f"The program: {program.outcome}",
        f"What it printed: {program.log_path}",
        f"Open its logdir again: tfdbg-tui {shlex.quote(logdir)}",
    ):
        put_error(line)


def _dump_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the user asks of the dump writer, checked before the program starts."""
    names = (
        *("tensor_debug_mode", "circular_buffer_size", "op_regex"),
        *("every", "steps", "layers", "functions", "lines", "magnitudes_every", "max_gigabytes"),
    )
    options = {name: value for name in names if (value := getattr(args, name)) is not None}
    if args.stop_on_bad:
        options["on_bad"] = "raise"
    try:
        validated("", **{**DEFAULTS, **options})
    except (ValueError, NotImplementedError) as error:
        raise LogdirError(str(error)) from None
    except re.error as error:
        raise LogdirError(f"--op-regex {args.op_regex}: {error}") from None
    return options


def _python_arguments(args: argparse.Namespace) -> list[str]:
    """Return what follows ``python``: the options of this Python, and the program."""
    # No option of Python either, whatever the script is called.
    before = ["-m"] if args.is_module else ["--"] * args.script.startswith("-")
    own: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [*own, *before, args.script, *args.arguments]


def _check_headless(args: argparse.Namespace) -> None:
    """Refuse what could only fail after hours."""
    if args.stop_on_suspect and not args.headless:
        raise LogdirError("--stop-on-suspect needs --headless: in the app you see for yourself")
    if args.summary is None:
        return
    if not args.headless:
        raise LogdirError("--summary needs --headless")
    directory = os.path.dirname(os.path.abspath(args.summary))
    if os.path.isdir(args.summary) or not os.access(directory, os.W_OK):
        raise LogdirError(f"{args.summary}: cannot be written; give a file in a directory of yours")


def _run_headless(program: Program, args: argparse.Namespace) -> int:
    others = set(filesets.find_file_sets(program.logdir))
    stopper = None
    if args.stop_on_suspect:
        from tfdbg_tui.cli.watch import Stopper  # it loads the diagnosis

        stopper = Stopper(program, lambda: _runs(program, others))
    with _received_signals(lambda: program.start(stdin=None, outlives=False)) as received:
        if stopper is not None:
            stopper.start()
        _copy_output(program, received)
    _report(program)
    recorded = _runs(program, others)
    verdict = _diagnose(program, recorded, args) if recorded else exit_codes.UNUSABLE
    if recorded and args.summary:
        _write_summary(recorded, args.summary)
    if verdict == exit_codes.UNUSABLE:
        tell(f"nothing was recorded: {_why_nothing(program)}")
    if verdict == exit_codes.BAD or (stopper is not None and stopper.has_stopped):
        return exit_codes.BAD
    return _shell_code(program) or verdict


def _runs(program: Program, others: set[FileSet]) -> list[RunFiles]:
    """Return what a program has recorded; other programs may have used its logdir meanwhile.

    Args:
        program: The program.
        others: File sets that were there before it.
    """
    try:
        runs = list_runs(program.logdir)
    except LogdirError:
        return []
    # TensorFlow's own writer, which records where ours cannot, gives a run an id of its own.
    theirs = [run for run in runs if not run.is_of_our_writer and not others & set(run.file_sets)]
    return [*theirs, *(run for run in runs if run.run_id == program.run_id)]


def _diagnose(program: Program, recorded: Sequence[RunFiles], args: argparse.Namespace) -> int:
    """Print the diagnosis of what a program has recorded, or of the job that it is of.

    Args:
        program: The program.
        recorded: Its runs.
        args: The command's arguments.
    """
    from tfdbg_tui.cli import diagnose

    parser = argparse.ArgumentParser()
    diagnose.add_arguments(parser)
    arguments = [program.logdir, *(["--json"] if args.json else [])]
    runs = list_runs(program.logdir)
    if len(runs) > 1 and not are_of_a_cluster(runs):
        arguments += ["--run", recorded[-1].label]
    parsed = parser.parse_args(arguments)
    return diagnose.put_diagnosis(parsed, suspects_are_bad=args.stop_on_suspect)


def _write_summary(recorded: Sequence[RunFiles], path: str) -> None:
    from tfdbg_tui.cli import fleet

    try:
        fleet.write_summary(recorded, path)
    except LogdirError as error:  # The diagnosis has been printed: its exit code stays.
        tell(str(error))


def _shell_code(program: Program) -> int:
    """Return the exit code of a program that has ended, as a shell reports it."""
    code = program.exit_code or 0
    return code if code >= 0 else 128 - code


def _why_nothing(program: Program) -> str:
    if not os.path.isdir(program.logdir):
        return f"the logdir was deleted while the program ran: {program.logdir}"
    if program.exit_code:
        return "the program failed before its first TensorFlow op, or a quarter second after"
    return (
        "no TensorFlow op was executed by the program, nor by a Python process that it started, or "
        "it left by os._exit or exec within a quarter second of its first one; what goes on in the "
        f"background, as a daemon does, may still record: tfdbg-tui diagnose {program.logdir}"
    )


@contextlib.contextmanager
def _received_signals(start: Callable[[], None]) -> Iterator[set[int]]:
    """Start the program, and collect the signals that mean it, instead of ending at them.

    What is ignored here, as under ``nohup``, it ignores too when it begins, so that is collected
    from then on: it may take it nevertheless.  To stop it is not its own doing.

    Args:
        start: Starts it.
    """
    received: set[int] = set()
    handlers = {number: signal.getsignal(number) for number in _FOR_THE_PROGRAM}
    stops = handlers[signal.SIGTSTP] is not signal.SIG_IGN
    wanted = [number for number in handlers if stops or number != signal.SIGTSTP]

    def collect(numbers: Iterable[int]) -> None:
        for number in numbers:
            signal.signal(number, lambda number, _: received.add(number))

    ignored = {number for number in wanted if handlers[number] is signal.SIG_IGN}
    try:
        collect(number for number in wanted if number not in ignored)
        start()
        collect(ignored)
        yield received
    finally:
        for number in wanted:
            signal.signal(number, handlers[number])


def _pass_on(received: set[int], program: Program) -> None:
    """Send the program what this process has received; stop and go on with it."""
    while received:
        number = received.pop()
        if number != signal.SIGTSTP:
            program.send(number, alone=number not in _OF_TERMINALS)
            continue
        program.send(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        program.send(signal.SIGCONT)


def _copy_output(program: Program, received: set[int]) -> None:
    """Copy what the program prints to standard error until it ends.

    Args:
        program: The program.
        received: The signals that are meant for it, as they come.
    """
    with open(program.log_path, "rb") as log:
        while program.running:
            _pass_on(received, program)
            _copy(log)
            time.sleep(_COPY_SECONDS)
        _copy(log)


def _copy(log: BinaryIO) -> None:
    try:
        shutil.copyfileobj(log, sys.stderr.buffer)
        sys.stderr.flush()
    except OSError:  # Nobody reads it any more; all is in the log.
        silence(sys.stderr)
