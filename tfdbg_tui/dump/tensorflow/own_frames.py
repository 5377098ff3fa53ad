"""Keeps the dump writer's stack frames out of tracebacks, and of what warnings are about."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any

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


def excluded_too(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths whose frames are left out, with those of the dump writer."""
    return paths if OWN_DIRECTORY in paths else (*paths, OWN_DIRECTORY)


def exclude_in_keras(keras: Any) -> None:
    """Let the module `keras`, or `tf_keras`, leave them out as it does its own."""
    utils: Any = sys.modules.get(f"{keras.__name__}.src.utils.traceback_utils")
    if hasattr(utils, EXCLUDED_PATHS):
        setattr(utils, EXCLUDED_PATHS, excluded_too(getattr(utils, EXCLUDED_PATHS)))
