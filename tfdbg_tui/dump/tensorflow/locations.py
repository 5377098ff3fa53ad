"""Where the ops of a program are made: TensorFlow's stacks, and what is noted on each op."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sysconfig
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tfdbg_tui.dump.tensorflow import autograph, own_frames

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType

_LOCATION = "_tfdbg_tui_location"

_TRUSTED = tuple(
    os.path.join(os.path.dirname(spec.origin), "")
    for name in ("tensorflow", "keras", "tfdbg_tui")
    if (spec := importlib.util.find_spec(name)) and spec.origin
)
_INSTALLATION = tuple(
    os.path.join(os.path.abspath(path), "")
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_paths().get(name))
)
_PACKAGES = frozenset(("site-packages", "dist-packages"))
"""Also of an environment around this one, of the user, or on PYTHONPATH."""
_AUTOGRAPH_CALL = os.path.join("autograph", "impl", "api.py")


class Location(NamedTuple):
    """Where something of the program was made or run.

    Attributes:
        file_set: Tells whose the ids in `encoded` are.
        encoded: The serialized CodeLocation.
        readable: Whether TensorFlow can read the stack; see `is_text`.
        layer_calls: Where the calls of layers are in the stack; see `layers.call_depths`.
        gradient_depth: Where a gradient is computed in it; see `tape_hooks.depth_of_gradient`.
        in_places: Whether it is within the functions and lines that recording is limited to.
        layer: Number of the innermost layer that was called; 0 where there is none.
        library_calls: Of the calls of layers after which there is no line of the program's own,
            innermost first, how many frames of `encoded` come before.
        frames: What `encoded` names its frames by, outermost first, if there are such calls.
    """

    file_set: object
    encoded: bytes
    readable: bool
    layer_calls: tuple[int, ...] = ()
    gradient_depth: int | None = None
    in_places: bool = True
    library_calls: tuple[int, ...] = ()
    frames: tuple[bytes, ...] = ()
    layer: int = 0


class Locations(Protocol):
    """Knows where running frames are."""

    def here(self, frame: FrameType) -> Location:
        """Return the location of a running frame and its callers."""


def note_location(op: Any, location: Location) -> None:
    """Note where a graph op is made, for `noted_location`."""
    setattr(op, _LOCATION, location)


def noted_location(op: Any) -> Location | None:
    """Return where a graph op was made, if `note_location` was told."""
    location: Location | None = getattr(op, _LOCATION, None)
    return location


def frames_of(stack: Iterable[Any] | None) -> list[tuple[str, int, str]]:
    """Return (file, line, function) of the frames of a stack of TensorFlow's, the user's own."""
    return [
        autograph.users_frame((frame.filename, frame.lineno, frame.name or autograph.LAMBDA))
        for frame in stack or ()
    ]


def is_text(frame: FrameType | None) -> bool:
    """Whether the names of files and functions in a frame and its callers are UTF-8.

    Reading another stack of TensorFlow's ends the process with a segmentation fault (2.16 to 2.19),
    or raises.
    """
    while frame is not None:
        if not has_text_names(frame.f_code):
            return False
        frame = frame.f_back
    return True


def has_text_names(code: CodeType) -> bool:
    """Return whether the names of the file and the function of some code are UTF-8."""
    names = code.co_filename, code.co_name
    return all(name.isascii() or name == as_text(name) for name in names)


def is_users(frame: Any) -> bool:
    """Return whether a stack frame, or what AutoGraph ran for it, is of code outside of libraries.

    Those are TensorFlow, Keras and this package.
    """
    while frame.f_back is not None and frame.f_code.co_filename.endswith(_AUTOGRAPH_CALL):
        frame = frame.f_back
    return not frame.f_code.co_filename.startswith(_TRUSTED)


def is_installed(path: str) -> bool:
    """Return whether a file is of the Python installation, of a package in it, or of this one."""
    return _is_in_installation(absolute(path))


@functools.lru_cache(maxsize=4096)
def _is_in_installation(path: str) -> bool:
    if path.startswith(_INSTALLATION) or path.startswith(own_frames.OWN_DIRECTORY):
        return True
    return not _PACKAGES.isdisjoint(path.split(os.sep))


def absolute(path: str) -> str:
    """Return the absolute path of a file, which may stand in a directory that is gone."""
    return _normal(path) if os.path.isabs(path) else _absolute(path)


def _absolute(path: str) -> str:
    with contextlib.suppress(OSError):
        path = os.path.abspath(path)
    return as_text(path)


_normal = functools.lru_cache(maxsize=4096)(_absolute)
"""Does so of a path that is absolute, whatever the working directory."""


def as_text(name: str) -> str:
    """Return a name with what is not UTF-8 replaced."""
    return name.encode("utf-8", "replace").decode()
