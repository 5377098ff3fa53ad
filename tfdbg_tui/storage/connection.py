"""A server of files, as fsspec reaches it: what fails for a moment is tried again."""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from tfdbg_tui.storage import urls
from tfdbg_tui.storage.interface import MissingPackageError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fsspec import AbstractFileSystem

Result = TypeVar("Result")

_ANSWERS = FileNotFoundError, NotADirectoryError, IsADirectoryError

_PAUSES = (0.2, 1.0)  # seconds before trying again
_REST_SECONDS = 1.0  # after the last try, in which nobody waits for another one
_PATIENCE_SECONDS = 30.0  # for which a connection that is lost is waited for
_CONNECT_SECONDS = 10
_SILENT_SECONDS = 30  # after which a server that sends nothing counts as lost


class Connection:
    """A connection to a server, a bucket or the like; any thread may use it.

    Args:
        server: Its URL, without a path and without secrets.

    Raises:
        MissingPackageError: What reads such URLs is not installed.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._backend = _backend(server.partition("://")[0])
        self._failed_at: float | None = None
        self._reason = ""
        self._may_return = False
        self._rests_until = 0.0
        self._lock = threading.RLock()
        self._present: AbstractFileSystem | None = None

    @property
    def problem(self) -> str:
        """What is wrong, in words; "" where the last call succeeded."""
        since = self._failed_at
        if since is None:
            return ""
        return f"no connection for {time.monotonic() - since:.0f} s: {self._reason}"

    def wait(self) -> bool:
        """Wait a second for a connection that is lost; return whether to try once more."""
        since = self._failed_at
        if since is None or not self._may_return or time.monotonic() - since > _PATIENCE_SECONDS:
            return False
        time.sleep(_REST_SECONDS)
        return True

    def path(self, url: str) -> str:
        """Return what the file system calls that which is behind a URL."""
        path: str = self._backend._strip_protocol(urls.with_secrets(url))
        return path

    def call(self, work: Callable[[AbstractFileSystem], Result]) -> Result:
        """Let the file system do something; again if the connection fails.

        Raises:
            UnreachableError: It failed each time.
            OSError: What was asked for is not there, or not allowed.
        """
        if time.monotonic() < self._rests_until:
            raise UnreachableError(errno.EIO, self._reason)
        for pause in (*_PAUSES, None):
            try:
                with self._turn():
                    result = work(self._file_system())
            except Exception as error:
                failure = self._translated(error)
                if isinstance(failure, _ANSWERS):
                    raise failure from None
                self._note(failure)
                if pause is None or not self._may_return:
                    self._rests_until = time.monotonic() + _REST_SECONDS * self._may_return
                    raise failure from None
                time.sleep(pause)
            else:
                self._failed_at = None
                return result
        raise AssertionError("the last pause is None")

    def read(self, path: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of a file from each start to each end, in one call.

        Raises:
            UnreachableError: The connection fails.
            OSError: They cannot be read.
        """
        if not ranges:  # which is no sign of life
            return []
        return self.call(lambda files: _read(files, path, ranges))

    def _file_system(self) -> AbstractFileSystem:
        with self._lock:
            if self._present is None:
                url = urls.with_secrets(self._server + "/")
                options = self._backend._get_kwargs_from_urls(url)
                options.update(_options(self._server.partition("://")[0]))
                self._present = self._backend(**options, skip_instance_cache=True)
            return self._present

    def _turn(self) -> contextlib.AbstractContextManager[Any]:
        """Return what lets one thread at a time call a backend that does not do so itself."""
        return contextlib.nullcontext() if self._backend.async_impl else self._lock

    def _note(self, failure: OSError) -> None:
        """Note that a call has failed; the next one connects anew, where that may help."""
        self._failed_at = self._failed_at or time.monotonic()
        self._reason = failure.strerror or str(failure)
        self._may_return = isinstance(failure, UnreachableError)
        if self._may_return:
            with self._lock:
                self._present = None

    def _translated(self, error: Exception) -> OSError:
        """Return an error of any backend as one that says whether trying again may help."""
        if isinstance(error, FileNotFoundError) and isinstance(error.__cause__, Exception):
            error = error.__cause__  # fsspec's HTTP says so of whatever goes wrong
        if isinstance(error, ImportError):
            return _missing_package(self._server.partition("://")[0])
        status = getattr(error, "status", None)
        lines = str(getattr(error, "strerror", None) or getattr(error, "message", None) or error)
        reason = urls.scrubbed(lines.strip().split("\n")[0], self._server) or type(error).__name__
        if isinstance(error, FileNotFoundError) or status in (404, 410):
            return FileNotFoundError(errno.ENOENT, "no such file")
        if isinstance(error, (PermissionError, NotADirectoryError, IsADirectoryError)):
            return type(error)(error.errno, reason)
        if _is_refused(error, status):
            return PermissionError(errno.EACCES, reason)
        if isinstance(error, (TypeError, ValueError, NotImplementedError, NoRangesError)):
            return OSError(errno.EINVAL, reason)
        return UnreachableError(errno.EIO, reason)


class NoRangesError(OSError):
    """A web server that sends whole files, whichever part of them is asked for."""


def _missing_package(scheme: str) -> MissingPackageError:
    extra = urls.EXTRAS.get(scheme, "remote")
    text = f"needs a package that is not installed: pip install 'tfdbg-tui[{extra}]'"
    return MissingPackageError(errno.ENOPKG, text)


def _backend(scheme: str) -> type[AbstractFileSystem]:
    """Return what reads URLs of a kind; raises MissingPackageError."""
    try:
        from fsspec import get_filesystem_class

        backend: type[AbstractFileSystem] = get_filesystem_class(scheme)
    except ImportError:
        raise _missing_package(scheme) from None
    except ValueError:
        raise MissingPackageError(errno.EPROTONOSUPPORT, f"nothing reads {scheme}://") from None
    return backend


def _is_refused(error: Exception, status: int | None) -> bool:
    name = type(error).__name__
    if "Credential" in name or "Authentication" in name or "HostKey" in name:
        return True
    return status is not None and 400 <= status < 500 and status not in (408, 429)


def _options(scheme: str) -> dict[str, Any]:
    """Return what makes a backend give up on a server that is silent, unless the user says."""
    import fsspec

    if scheme in ("s3", "s3a"):
        config = {"connect_timeout": _CONNECT_SECONDS, "read_timeout": _SILENT_SECONDS}
        options: dict[str, Any] = {"config_kwargs": config}
    elif scheme in ("http", "https"):
        from aiohttp import ClientTimeout

        timeout = ClientTimeout(None, sock_connect=_CONNECT_SECONDS, sock_read=_SILENT_SECONDS)
        options = {"client_kwargs": {"timeout": timeout}}
    elif scheme in ("sftp", "ssh"):
        options = {"timeout": _CONNECT_SECONDS, "channel_timeout": _SILENT_SECONDS}
    else:
        options = {}
    configured = fsspec.config.conf.get(scheme, {})
    return {name: value for name, value in options.items() if name not in configured}


def _read(files: AbstractFileSystem, path: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    if hasattr(files, "ftp"):  # several requests of SFTP are on their way at once
        with files.ftp.open(path, "rb") as file:
            return list(file.readv([(start, end - start) for start, end in ranges]))
    starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
    found: list[bytes] = files.cat_ranges([path] * len(ranges), starts, ends, on_error="raise")
    if any(len(data) > end - start for data, start, end in zip(found, starts, ends, strict=True)):
        raise NoRangesError(
            errno.EINVAL, "the server sends whole files only, not parts of them (HTTP ranges)"
        )
    return found
