"""Which line of the user's a line of AutoGraph's was made of.

TensorFlow says so itself of the functions that a thread has called.  A strategy runs its replicas
in threads of its own, and what they run there is a part of a function that another thread called.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tensorflow.python.autograph.impl.api import _TRANSPILER
from tensorflow.python.autograph.pyct.cache import CodeObjectCache

from tfdbg_tui.dump.tensorflow.private import attribute

if TYPE_CHECKING:
    from collections.abc import Mapping

_GENERATED = "__autograph_generated_file"

_converted = attribute(_TRANSPILER, "_cache")
_by_code = attribute(CodeObjectCache, "_cache")

Frame = tuple[str, int, str]
"""File, line and function."""


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
    # AutoGraph has no name for a lambda.
    return origin.loc.filename, origin.loc.lineno, origin.function_name or "<lambda>"
