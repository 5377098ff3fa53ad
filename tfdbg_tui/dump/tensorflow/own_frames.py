"""Keeps the dump writer's stack frames out of tracebacks, and of what warnings are about."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

OWN_DIRECTORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""That of the package `dump`."""

EXCLUDED_PATHS = "_EXCLUDED_PATHS"
"""The name under which TensorFlow, and maybe Keras, keeps whose frames it leaves out."""


_NOT_COUNTED = "importlib_bootstrap"
"""Python's warnings do not count the frames of files that have both these words in their names."""


def leave_out_of_warnings(wrapper: Any) -> None:
    """Let a warning be about the line that it would be about without a function around it.

    A warning says how many frames above itself the line is.
    """
    if inspect.isfunction(wrapper):
        code = wrapper.__code__
        before, own, after = code.co_filename.partition(OWN_DIRECTORY)
        if own:
            name = os.path.join(before + own, _NOT_COUNTED, after)
            wrapper.__code__ = code.replace(co_filename=name)


class LeftOutOfTracebacks(contextlib.AbstractContextManager[None]):
    """Takes the dump writer's frames out of the traceback of what the program's call raises.

    Python adds no frame of the function that it leaves by this: what it raised goes on as it is.
    """

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        """Change the traceback of an error."""
        if error is not None:
            error.__traceback__ = _without_own(error.__traceback__)


def _without_own(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without frames of the dump writer, but the one that has raised."""
    kept = [entry for entry in _entries(traceback) if entry.tb_next is None or not _is_own(entry)]
    for entry, following in itertools.pairwise(kept):
        entry.tb_next = following
    return kept[0] if kept else None


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_own(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith(OWN_DIRECTORY)


def excluded_too(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths whose frames are left out, with those of the dump writer."""
    return paths if OWN_DIRECTORY in paths else (*paths, OWN_DIRECTORY)


def exclude_in_keras(keras: Any) -> None:
    """Let the module `keras`, or `tf_keras`, leave them out as it does its own."""
    utils: Any = sys.modules.get(f"{keras.__name__}.src.utils.traceback_utils")
    if hasattr(utils, EXCLUDED_PATHS):
        setattr(utils, EXCLUDED_PATHS, excluded_too(getattr(utils, EXCLUDED_PATHS)))
