"""Running the commands and the library on a logdir, in this process."""

from __future__ import annotations

import contextlib
import io
import json
import signal
from typing import TYPE_CHECKING

from tfdbg_tui.cli import run_command
from tfdbg_tui.logdir import LogdirError, RunReader, UnreadableError, list_runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SECONDS = 60  # of the processor, for what takes a tenth of one
_EXIT_CODES = (0, 1, 2, 3, 4)


class TooLongError(Exception):
    """Something did not come to its end."""


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """Raises an error inside what takes too long."""

    def stop(_number: int, _frame: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_commands(logdir: Path) -> None:
    """Runs `info` and `diagnose`; raises an error unless they answer, or say why they do not."""
    with time_limit():
        for arguments in (["info"], ["info", "--json"], ["diagnose"], ["diagnose", "--json"]):
            _run(arguments[0], [str(logdir), *arguments[1:]])


def _run(name: str, arguments: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command(name, arguments)
    said = out.getvalue()
    assert code in _EXIT_CODES, code
    assert said or err.getvalue()
    assert said or code == 2, (code, err.getvalue())
    check_inert(said)
    check_inert(err.getvalue())
    if "--json" in arguments and said:
        answer = json.loads(said)
        assert name == "info" or (answer["verdict"] == "bad") == (code == 1)
    elif said and name == "diagnose":
        assert said.startswith("bad") == (code == 1)


def check_inert(text: str) -> None:
    """Raises an error where a text could steer a terminal."""
    odd = [char for char in text if not char.isprintable() and char != "\n"]
    assert not odd, f"not inert: {odd!r} in {text!r}"


def read_everything(logdir: Path) -> None:
    """Asks the library for all that there is of each run."""
    try:
        runs = list_runs(logdir)
    except LogdirError:
        return
    with time_limit():
        for files in runs:
            reader = RunReader(files)
            run = reader.read_all()
            for execution in run.executions:
                run.stack(execution.stack_id)
                for slot in range(min(3, execution.num_outputs)):
                    with contextlib.suppress(UnreadableError):
                        run.executions.tensor(execution.index, slot)
            for trace in run.graph_executions:
                run.op(trace.graph_id, trace.op_name)
                run.graph_path(trace.graph_id)
                with contextlib.suppress(UnreadableError):
                    run.graph_executions.tensor(trace.index)
            for host, path in run.source_paths:
                run.source(host, path)
            assert all(isinstance(problem.message, str) for problem in run.problems)
            reader.close()
