"""A directory of this machine for a dump that is recorded to a URL."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tfdbg_tui.storage import urls

_PACKAGE_PARENT = str(Path(__file__).parents[2])


class Spool:
    """A new directory whose files another process uploads as they grow: see `upload`.

    It goes on until all is sent, also where this process is killed.  The directory lies in
    TFDBG_SPOOL_DIR, or where temporary files do, and is its user's own.

    Args:
        url: Where the files are brought to.

    Attributes:
        url: Where the files are brought to.
        directory: Where the files are to be written.
        pipe: A descriptor; the upload goes on while any process has it open, or until `finish`.

    Raises:
        OSError: The directory cannot be made, or no process be started.
    """

    def __init__(self, url: str) -> None:
        self.directory = tempfile.mkdtemp(
            prefix="tfdbg-spool-", dir=os.environ.get("TFDBG_SPOOL_DIR") or None
        )
        self.url = urls.without_secrets(url)
        self._owner = os.getpid()
        path = [_PACKAGE_PARENT, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tfdbg_tui.storage.upload", self.directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            start_new_session=True,  # Ctrl-C is for the program
        )
        assert self._process.stdin is not None
        self.pipe = self._process.stdin.fileno()
        self._say(urls.with_secrets(url))

    def finish(self) -> None:
        """Wait until all is sent; where that fails, the other process tells why, if it can."""
        if os.getpid() != self._owner:  # but a fork of it
            return
        self._say("end")
        self._process.communicate()  # which closes its pipe, too
        if self._process.returncode < 0:
            again = shlex.join(["tfdbg-tui", "upload", self.directory, self.url])
            sys.stderr.write(
                f"tfdbg-tui: what uploads the dump to {self.url} was killed; it is in "
                f"{self.directory}: {again} tries again\n"
            )

    def _say(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has told why it has ended
            os.write(self.pipe, f"{line}\n".encode())
