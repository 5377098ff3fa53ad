"""Keeps the dump writer's stack frames out of the tracebacks that TensorFlow and Keras shorten."""

from __future__ import annotations

import os
import sys
from typing import Any

OWN_DIRECTORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""That of the package `dump`."""

EXCLUDED_PATHS = "_EXCLUDED_PATHS"
"""The name under which TensorFlow, and maybe Keras, keeps whose frames it leaves out."""


def excluded_too(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths whose frames are left out, with those of the dump writer."""
    return paths if OWN_DIRECTORY in paths else (*paths, OWN_DIRECTORY)


def exclude_in_keras(keras: Any) -> None:
    """Let the module `keras`, or `tf_keras`, leave them out as it does its own."""
    utils: Any = sys.modules.get(f"{keras.__name__}.src.utils.traceback_utils")
    if hasattr(utils, EXCLUDED_PATHS):
        setattr(utils, EXCLUDED_PATHS, excluded_too(getattr(utils, EXCLUDED_PATHS)))
