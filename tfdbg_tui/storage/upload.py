"""Uploads a logdir that is being recorded: ``python -m tfdbg_tui.storage.upload DIRECTORY``.

A process of its own does it, so that the recorded program neither waits for it nor takes it along
when it is killed.  It reads the URL from its standard input, and ends, when all has been sent, at
the next line or the end of that input: when nobody has the other end of the pipe any more.

Most stores cannot append.  What is remote is always the beginning of what is local, so how much is
there tells what is missing, however the last attempt ended: a file is appended to where the backend
can do that, and sent again as a whole where it cannot, then only when it has grown by a quarter.
The files are the ones that the writer made: any reader opens them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from tfdbg_tui.storage import urls
from tfdbg_tui.storage.connection import Connection
from tfdbg_tui.wire import filesets, tfrecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import RawIOBase

_SECONDS = 2.0  # between two looks at the directory
_MOST_BYTES = 32 << 20  # that are in memory at once
_APPENDING = {"sftp": 0, "ssh": 0, "hdfs": 0, "memory": 0, "s3": 5 << 20, "s3a": 5 << 20}
"""Backends that can append, and from which size: below, S3 copies through this machine."""

_WITH_DIRECTORIES = "sftp", "ssh", "hdfs"
_READ_ONLY = "http", "https"
_GROWN = 1.25  # times of what was sent, when a file is sent again as a whole


class Upload:
    """The files of a directory, and how much of each is behind a URL.

    Args:
        directory: Where they are written.
        url: The directory they are brought to, without secrets.

    Raises:
        MissingPackageError: What writes to such URLs is not installed.
    """

    def __init__(self, directory: str, url: str) -> None:
        self._directory = directory
        self._url = url
        self._scheme = url.partition("://")[0]
        if self._scheme in _READ_ONLY:
            raise OSError(errno.EROFS, "web servers are read, not written to")
        self._connection = Connection(urls.server_of(url))
        self._appends_from = _APPENDING.get(self._scheme)
        self._files: dict[str, _File] = {}

    def send(self, *, last: bool = False) -> None:
        """Send what whole records there are, if that is worthwhile, or the last time.

        Raises:
            OSError: It cannot be sent.
        """
        for name in _names(self._directory):
            file = self._files.setdefault(name, _File(os.path.join(self._directory, name)))
            remote = self._connection.path(f"{self._url}/{name}")
            while file.has_grown(last=last, appends=self._appends_from is not None):
                self._connection.call(partial(self._send, file=file, remote=remote))

    def wait(self) -> bool:
        """Wait a second for a connection that is lost; return whether to try once more."""
        return self._connection.wait()

    def _send(self, files: Any, file: _File, remote: str) -> None:
        files.invalidate_cache()
        there = files.info(remote)["size"] if file.sent and files.exists(remote) else 0
        appends = self._appends_from is not None and self._appends_from <= there
        if appends and 0 < there <= file.end:
            data = file.read(there)
            with files.open(remote, "ab") as target:
                target.write(data)
            file.sent = there + len(data)
            return
        if self._scheme in _WITH_DIRECTORIES:
            files.makedirs(remote.rpartition("/")[0], exist_ok=True)
        done = 0
        with files.open(remote, "wb") as target:
            for piece in file.pieces():
                target.write(piece)
                done += len(piece)
        file.sent = done


class _File:
    """A file that its writer appends to, or replaces by another one.

    Attributes:
        end: Where its last whole record ends.
        sent: How much of it is remote.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity: int | None = None
        self.end = 0
        self.sent = 0

    def has_grown(self, *, last: bool, appends: bool) -> bool:
        """Return whether there are whole records to send, and enough of them."""
        status = os.stat(self._path)
        if status.st_ino != self._identity:  # a circular buffer
            self._identity, self.end, self.sent = status.st_ino, 0, 0
        self._find_end(status.st_size)
        enough = self.end if last or appends else self.sent * _GROWN
        return self.end > self.sent and self.end >= enough

    def read(self, start: int) -> bytes:
        """Return the whole records from `start` on, or some of them."""
        with open(self._path, "rb") as file:
            file.seek(start)
            return file.read(min(_MOST_BYTES, self.end - start))

    def pieces(self) -> Iterator[bytes]:
        """Yield all whole records."""
        start = 0
        while start < self.end:
            piece = self.read(start)
            if not piece:
                return
            yield piece
            start += len(piece)

    def _find_end(self, size: int) -> None:
        """Find where the last whole record ends."""
        while self.end < size:
            with open(self._path, "rb") as file:
                file.seek(self.end)
                data = file.read(_MOST_BYTES)
            end = _whole(data) or _large(data, size - self.end)
            if not end:
                return
            self.end += end


def _whole(data: bytes) -> int:
    """Return how many bytes of `data` whole records take up; all of them where it is damaged."""
    at = 0
    try:
        while (end := tfrecord.record_end(data, at)) is not None:
            at = end
    except tfrecord.CorruptRecordError:
        return len(data)
    return at


def _large(data: bytes, size: int) -> int:
    """Return the length of a record that is longer than `data`; 0 if not all of it is there."""
    if len(data) < _MOST_BYTES:
        return 0
    end = tfrecord.FRAME_SIZE + int.from_bytes(data[:8], "little")
    return end if end <= size else 0


def _names(directory: str) -> list[str]:
    """Return the names of the files of file sets, metadata last: it tells the end of a dump."""
    try:
        file_sets = filesets.find_file_sets(directory)
    except FileNotFoundError:
        return []
    suffixes = reversed(filesets.SUFFIXES)
    paths = [file_set.path(suffix) for suffix in suffixes for file_set in file_sets]
    return [os.path.basename(path) for path in paths if os.path.isfile(path)]


def _follow(upload: Upload, stream: RawIOBase) -> None:
    """Send what is recorded until the stream ends."""
    told = False
    while not select.select([stream], [], [], _SECONDS)[0]:
        try:
            upload.send()
        except OSError as error:
            if not told:
                _tell(f"the dump cannot be uploaded yet ({reason_of(error)}); trying again")
            told = True


def finish(upload: Upload) -> str:
    """Send the rest; return why that failed, "" where it did not."""
    while True:
        try:
            upload.send(last=True)
            return ""
        except OSError as error:
            if not upload.wait():
                return reason_of(error)


def reason_of(error: OSError) -> str:
    """Return what is wrong, without the number and the name of a file."""
    return error.strerror or str(error)


def _tell(text: str) -> None:
    sys.stderr.write(f"tfdbg-tui: {text}\n")


def _remove(directory: str) -> None:
    """Remove what has been sent; what else is there stays."""
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            if name.startswith("tfdbg_events."):  # also what a killed writer kept in reserve
                os.remove(os.path.join(directory, name))
        os.rmdir(directory)


def main(directory: str, stream: RawIOBase) -> int:
    """Upload a directory until the stream, whose first line is the URL, says more or ends.

    What has been sent is removed from the directory when all has.
    """
    url = urls.without_secrets(stream.readline().decode().rstrip("\n"))
    again = f": {shlex.join(['tfdbg-tui', 'upload', directory, url])} tries again"
    try:
        upload = Upload(directory, url)
        _follow(upload, stream)
        failure = finish(upload)
    except OSError as error:
        failure = reason_of(error)
        if error.errno == errno.EROFS:  # it would be another time, too
            again = ""
    if failure:
        _tell(f"the dump cannot be uploaded to {url} ({failure}); it is in {directory}{again}")
        return 1
    _remove(directory)
    return 0


if __name__ == "__main__":
    with open(0, "rb", buffering=0) as standard_input:
        sys.exit(main(sys.argv[1], standard_input))
