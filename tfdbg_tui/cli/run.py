"""Run a program under the dump writer, unchanged, and debug it while it runs.

    tfdbg-tui run train.py --epochs 3
    tfdbg-tui run -m my.package.train
    tfdbg-tui run --headless train.py && echo "no NaN, no infinity"

The program runs in a process of its own, with this Python and its TensorFlow.  What it prints is
kept in program.log in the logdir.  It goes on when the connection to this terminal is cut: open its
logdir again.  With --headless there is no app: the program's output goes to
standard error, the diagnosis to standard output.

Exit codes of --headless: 1 bad: NaN or infinity; else that of the program, where it failed (128 + n
where signal n ended it); else those of diagnose: 0 clean, or suspect only; 2 nothing was recorded;
3 incomplete: nothing bad on record, but not everything is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from importlib.machinery import PathFinder

from tfdbg_tui.cli import exitcodes
from tfdbg_tui.cli.options import add_app_arguments, add_live_arguments, app_options, live_options
from tfdbg_tui.logdir import LogdirError
from tfdbg_tui.program import Program, new_logdir

_COPY_SECONDS = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments; those of the dump writer are named as its API names them."""
    parser.add_argument(
        "--logdir", metavar="DIR", help="where to write (default: a new directory, printed)"
    )
    parser.add_argument("--headless", action="store_true", help="no app; diagnose at the end")
    parser.add_argument("--json", action="store_true", help="the headless diagnosis as JSON")
    parser.add_argument(
        "--stop-on-bad", action="store_true", help="stop the program at the first NaN or infinity"
    )
    parser.add_argument("--tensor-debug-mode", metavar="MODE", help="default: ADAPTIVE")
    parser.add_argument(
        "--circular-buffer-size", metavar="N", help="keep the last N events only (default: all)"
    )
    parser.add_argument("--op-regex", metavar="REGEX", help="record only ops whose type matches")
    parser.add_argument("--every", metavar="K", help="record one training step in K")
    add_live_arguments(parser)
    add_app_arguments(parser)
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT names a module")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS")


def run(args: argparse.Namespace) -> int:
    """Run the program and debug it; return the exit code.

    Raises:
        LogdirError: There is no such program, or its logdir cannot be made.
    """
    _check_program(args)
    try:
        logdir = args.logdir or new_logdir(args.script)
        os.makedirs(logdir, exist_ok=True)
    except OSError as error:
        raise LogdirError(f"{error.filename}: cannot be made: {error.strerror}") from None
    print(f"tfdbg-tui: the program's logdir is {logdir}", file=sys.stderr, flush=True)
    program = Program(logdir, _dump_arguments(args))
    if args.headless:
        return _run_headless(program, as_json=args.json)
    return _run_with_app(program, args)


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
    path = [os.getcwd(), *sys.path]
    return package in sys.builtin_module_names or bool(PathFinder.find_spec(package, path))


def _run_with_app(program: Program, args: argparse.Namespace) -> int:
    """Open the app, which starts the program, and asks what shall become of it when it is left."""
    from tfdbg_tui.tui import run_app

    options = {**app_options(args), **live_options(args)}
    exit_code = run_app(program.logdir, follow=True, program=program, **options)
    if program.started:
        _report(program)
    return exit_code


def _report(program: Program) -> None:
    print(f"The program: {program.outcome}", file=sys.stderr)
    print(f"What it printed: {program.log_path}", file=sys.stderr)
    print(f"Open its logdir again: tfdbg-tui {program.logdir}", file=sys.stderr)


def _dump_arguments(args: argparse.Namespace) -> list[str]:
    options = []
    for name in ("tensor_debug_mode", "circular_buffer_size", "op_regex", "every"):
        value = getattr(args, name)
        if value is not None:
            options += ["--" + name.replace("_", "-"), value]
    if args.stop_on_bad:
        options += ["--on-bad", "raise"]
    if args.is_module:
        options.append("-m")
    return [*options, args.script, *args.arguments]


def _run_headless(program: Program, *, as_json: bool) -> int:
    from tfdbg_tui.cli import diagnose

    program.start()
    _copy_output(program)
    _report(program)
    parser = argparse.ArgumentParser()
    diagnose.add_arguments(parser)
    verdict: int = diagnose.run(
        parser.parse_args([program.logdir, *(["--json"] if as_json else [])])
    )
    if verdict == exitcodes.UNUSABLE:
        print(f"tfdbg-tui: nothing was recorded: {_why_nothing(program)}", file=sys.stderr)
    return verdict if verdict == exitcodes.BAD else _shell_code(program) or verdict


def _shell_code(program: Program) -> int:
    """Return the exit code of a program that has ended, as a shell reports it."""
    code = program.exit_code or 0
    return code if code >= 0 else 128 - code


def _why_nothing(program: Program) -> str:
    if program.exit_code:
        return "the program failed before its first TensorFlow op, or a quarter second after"
    return "the program executed no TensorFlow op, or not in the process that was started"


def _copy_output(program: Program) -> None:
    """Copy what the program prints to standard error until it ends; Ctrl-C or SIGTERM stops it."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open(program.log_path, "rb") as log:
        try:
            while program.running:
                shutil.copyfileobj(log, sys.stderr.buffer)
                sys.stderr.flush()
                time.sleep(_COPY_SECONDS)
        except KeyboardInterrupt:
            print("\ntfdbg-tui: stopping the program", file=sys.stderr, flush=True)
        finally:
            program.stop()
        shutil.copyfileobj(log, sys.stderr.buffer)
        sys.stderr.flush()
