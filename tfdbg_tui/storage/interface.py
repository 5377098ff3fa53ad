"""What can be asked of files, wherever they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

Fate = Literal["", "deleted", "replaced"]
"""What became of a file since it was opened: it has gone, or another one has its name."""


class NotRegularError(OSError):
    """What has the name of a file is a directory, a named pipe or a device."""


class UnreachableError(OSError):
    """Files cannot be reached at the moment; what was asked for may come later."""


class MissingPackageError(OSError):
    """What reads such URLs is not installed; the message says what to install."""


class Listing(NamedTuple):
    """What lies in a directory.

    Attributes:
        names: All names, of files and directories.
        directories: Names of the directories, without links to directories.
        links: Names of links to directories.
    """

    names: Sequence[str]
    directories: Sequence[str]
    links: Sequence[str] = ()


class Look(NamedTuple):
    """What a look at a file that is open has shown.

    Attributes:
        size: Its length in bytes; None where it has gone and can be asked no more.
        modified: When it was written last, in seconds since the epoch; None where that is unknown.
        fate: What became of it.
    """

    size: int | None
    modified: float | None
    fate: Fate


class StoredFile(Protocol):
    """A file that is open for reading.  All methods but `close` and `next_data` raise OSError."""

    def look(self) -> Look:
        """Return how it is now."""

    def read(self, size: int, offset: int) -> bytes:
        """Return up to `size` bytes at `offset`."""

    def read_each(self, size: int, offsets: Sequence[int]) -> list[bytes]:
        """Return up to `size` bytes at each of some offsets."""

    def read_into(self, view: memoryview, offset: int) -> int:
        """Fill a view with what is at `offset`; return how much that was.

        For reading a file from its start to its end: what follows may be fetched meanwhile.
        """

    def next_data(self, offset: int, size: int) -> int:
        """Return where, from `offset` up to `size`, a hole of zeros without blocks ends.

        Where the file system does not know its holes, that is `offset` itself.
        """

    def close(self) -> None:
        """Close the file."""


class Storage(Protocol):
    """A place of files."""

    @property
    def is_local(self) -> bool:
        """Whether they lie on this machine, so that processes here may have them open."""

    @property
    def poll_seconds(self) -> float:
        """How long to wait at least between two looks at files that grow."""

    @property
    def problem(self) -> str:
        """What is wrong with the connection to the files, in words; "" where nothing is."""

    def wait_for_connection(self) -> bool:
        """Wait a second for a connection that is lost; return whether to look once more."""

    def refresh(self) -> None:
        """Forget how files were at the last look: the next one asks anew."""

    def list(self, directory: str) -> Listing:
        """Return what lies in a directory; raises OSError."""

    def exists(self, path: str) -> bool:
        """Return whether there is anything of this name, as far as that can be told."""

    def open(self, path: str) -> StoredFile:
        """Open a regular file; raises OSError, NotRegularError."""

    def read_start(self, path: str, size: int) -> bytes:
        """Return up to `size` bytes from the start of a file; raises OSError."""
