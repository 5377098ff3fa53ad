"""Programs in processes of their own that find TensorFlow imported.

    python preloaded.py

imports it, which takes 5 s of CPU time that few programs are about, and forks a process for each
program that it reads about on standard input.  TensorFlow has started nothing by then.  What was
imported is no garbage at the end of a program: to look there would take longer than most of them.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

_LONGEST = 300  # seconds: then a program is killed


class Preloaded:
    """Runs programs; it is itself a context, in which the process that forks them is there."""

    def __enter__(self) -> Preloaded:
        command = [sys.executable, "-P", "-W", "ignore::DeprecationWarning", __file__]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def run(
        self,
        program: str | Path,
        *arguments: object,
        directory: Path | None = None,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Return what a program says and its exit code, below zero where a signal ended it.

        Args:
            program: Its file, or its source alone.
            arguments: What it finds in sys.argv, from the second on.
            directory: Where it runs.
            variables: Of its environment, besides those of this process.
        """
        with tempfile.TemporaryDirectory() as scratch:
            said = [Path(scratch) / name for name in ("stdout", "stderr")]
            job = {
                "program": program if isinstance(program, str) else program.read_text(),
                "file": "<string>" if isinstance(program, str) else str(program),
                "arguments": ["-c", *map(str, arguments)],
                "directory": str(directory or Path.cwd()),
                "variables": variables,
                "said": list(map(str, said)),
            }
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            print(json.dumps(job), file=self._process.stdin, flush=True)
            exit_code = int(self._process.stdout.readline())
            out, errors = (path.read_text(errors="replace") for path in said)
        return subprocess.CompletedProcess(program, exit_code, out, errors)


def _serve() -> dict[str, Any] | None:
    """Fork a process for each program; return the program in its process, None in this one."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            job: dict[str, Any] = json.loads(line)
            return job
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def _become(job: dict[str, Any]) -> None:
    """Make this process that of a program."""
    signal.alarm(_LONGEST)
    os.chdir(job["directory"])
    os.environ.update(job["variables"])
    sys.argv = job["arguments"]
    sys.path.insert(0, "")
    for descriptor, path in enumerate((os.devnull, *job["said"])):
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)


if __name__ == "__main__":
    import tensorflow  # noqa: F401

    gc.freeze()
    _job = _serve()
    if _job is not None:
        _become(_job)
        exec(
            compile(_job["program"], _job["file"], "exec"),
            {"__name__": "__main__", "__file__": _job["file"]},
        )
