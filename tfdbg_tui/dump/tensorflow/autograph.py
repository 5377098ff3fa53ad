"""Which line of the user's a line of AutoGraph's was made of.

TensorFlow says so itself of the functions that a thread has called.  A strategy runs its replicas
in threads of its own, and what they run there is a part of a function that another thread called.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tensorflow.python.autograph.impl.api import _TRANSPILER
from tensorflow.python.autograph.pyct.cache import CodeObjectCache
from tensorflow.python.util import tf_stack

from tfdbg_tui.dump.tensorflow.private import attribute

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

_GENERATED = "__autograph_generated_file"
LAMBDA = "<lambda>"
"""Python's name for what AutoGraph has none for."""

_converted = attribute(_TRANSPILER, "_cache")
_by_code = attribute(CodeObjectCache, "_cache")
_filters = attribute(tf_stack, "_source_filter_stacks")

Frame = tuple[str, int, str]
"""File, line and function."""


def files_left_out() -> Set[str]:
    """Return the files whose frames TensorFlow leaves out of the stacks of this thread.

    Those are AutoGraph's own, while it runs what it has converted.
    """
    filters = _filters(tf_stack).get(threading.get_ident())
    files: Set[str] = filters[-1].get_filtered_filenames() if filters else frozenset()
    return files


def users_frame(frame: Frame) -> Frame:
    """Return the frame that the user wrote where AutoGraph made this one; any other as it is."""
    path, line, _ = frame
    return _origins(path).get(line, frame) if _GENERATED in path else frame


def users_file(path: str) -> str:
    """Return the file that AutoGraph made this one of; any other as it is."""
    made_of = _origins(path) if _GENERATED in path else {}
    return next((origin for origin, _, _ in made_of.values()), path)


@lru_cache(maxsize=256)
def _origins(path: str) -> Mapping[int, Frame]:
    """Return what each line of a generated file was made of."""
    converted = _by_code(_converted(_TRANSPILER))
    for reference in converted.keyrefs():  # a list: other threads may convert functions meanwhile
        for made in list(converted.get(reference(), {}).values()):
            if made.module.__file__ == path:
                return {line.lineno: _frame(origin) for line, origin in made.source_map.items()}
    return {}


def _frame(origin: Any) -> Frame:
    return origin.loc.filename, origin.loc.lineno, origin.function_name or LAMBDA
