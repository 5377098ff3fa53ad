"""Which frames of a stack trace are the user's own code.

The innermost of them is the line to look at: everything deeper is TensorFlow, Keras or another
library doing as it was told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfdbg_tui.logdir import StackFrame

# A user's project may lie in a directory called tensorflow or keras, so names of directories alone
# decide nothing: only places where packages are installed, and packages by their inner layout.
_LIBRARY = re.compile(
    r"""
    /(site|dist)-packages/  # anything that pip or a distribution installed
    | /lib(64)?/python\d(\.\d+)?t?/  # the standard library
    | /python\d+\.zip/
    | /(python|anaconda|miniconda|miniforge)[^/]*(/envs/[^/]+)?/lib/[^/]+\.py$  # on Windows
    | /tensorflow/python/(autograph|checkpoint|client|compiler|data|debug|distribute|eager
        |feature_column|framework|keras|layers|lib|module|ops|platform|profiler|saved_model
        |summary|tpu|trackable|training|types|user_ops|util)/
    | /(tf_)?keras/(src|api)/
    | /tensorflow_probability/(python|substrates)/
    | /tfdbg_tui/((cli|diagnosis|dump|logdir|tui|wire)/|__(init|main)__\.py$)
    | /__autograph_generated_file[^/]*\.py$           # their frames repeat lines of the user's file
    """,
    re.VERBOSE | re.IGNORECASE,
)

_USER_PSEUDO_FILES = ("<stdin>", "<string>", "<ipython-input", "<console>", "<python-input")


def is_library_frame(frame: StackFrame) -> bool:
    """Whether a frame is in TensorFlow, another package, Python itself, or an unknown file."""
    if not frame.path:
        return True
    if frame.path.startswith("<"):
        return not frame.path.startswith(_USER_PSEUDO_FILES)
    return _LIBRARY.search("/" + frame.path.replace("\\", "/")) is not None


def user_frame(frames: Sequence[StackFrame]) -> int | None:
    """Return the position of the innermost frame of the user's code, or None.

    Args:
        frames: A stack trace, outermost frame first.
    """
    for position in reversed(range(len(frames))):
        if not is_library_frame(frames[position]):
            return position
    return None
