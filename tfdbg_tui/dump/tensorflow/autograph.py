"""Which line of the user's a line of AutoGraph's was made of.

TensorFlow says so itself of the functions that a thread has called.  A strategy runs its replicas
in threads of its own, and what they run there is a part of a function that another thread called.
"""

from __future__ import annotations

import linecache
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tensorflow.python.autograph.impl.api import _TRANSPILER
from tensorflow.python.autograph.pyct.cache import CodeObjectCache
from tensorflow.python.util import tf_stack

from tfdbg_tui.dump.tensorflow.expressions import users_expression
from tfdbg_tui.dump.tensorflow.private import attribute

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from tfdbg_tui.wire.expressions import Expression

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


def is_generated(path: str) -> bool:
    """Return whether AutoGraph has made a file."""
    return _GENERATED in path


def users_frame(frame: Frame) -> Frame:
    """Return the frame that the user wrote where AutoGraph made this one; any other as it is."""
    return users_place(frame, None)[0]


def users_place(
    frame: Frame, expression: Expression | None, file: str = ""
) -> tuple[Frame, Expression | None]:
    """Return the frame and the expression that the user wrote where AutoGraph made these.

    Of a statement on several lines AutoGraph knows the first: the line is that of the expression.

    Args:
        frame: A frame; one that AutoGraph has not made is returned as it is.
        expression: What it runs of its line, where that is known.
        file: The file of the module that its function is of; "" where it has none.
    """
    path, line, _ = frame
    made_of = _origins(path).get(line) if is_generated(path) else None
    if made_of is None:
        return frame, expression
    own, first, function = made_of
    users = users_expression(path, expression, own, first) if expression is not None else None
    line = users.line if users is not None else first
    return _in_own_file((own, line, function), file), users


def _in_own_file(made_of: Frame, file: str) -> Frame:
    """Return a line of the user's in the file of its module.

    AutoGraph converts functions once whose code is equal: of copies in several files, the first.

    Args:
        made_of: The line, in the file of the function that AutoGraph has converted.
        file: The file of the module that the function is of.
    """
    path, line, function = made_of
    is_same = file.endswith(path)  # absolute, where the other may be as it was given to Python
    text = "" if is_same else linecache.getline(file, line)
    is_copy = bool(text) and text == linecache.getline(path, line)
    return (file, line, function) if is_copy else made_of


def users_file(path: str) -> str:
    """Return the file that AutoGraph made this one of; any other as it is."""
    made_of = _origins(path) if is_generated(path) else {}
    return next((origin for origin, _, _ in made_of.values()), path)


@lru_cache(maxsize=256)
def _origins(path: str) -> Mapping[int, Frame]:
    """Return what each line of a generated file was made of."""
    converted = _by_code(_converted(_TRANSPILER))
    for reference in converted.keyrefs():  # a list: other threads may convert functions meanwhile
        code = reference()
        for made in list(converted.get(code, {}).values()):
            if made.module.__file__ == path:
                return _frames(made.source_map, code)
    return {}


def _frames(source_map: Mapping[Any, Any], code: Any) -> Mapping[int, Frame]:
    """Return what each generated line was made of, given AutoGraph's own map.

    AutoGraph joins the lines that end with a backslash before it counts them, except in lambdas.

    Args:
        source_map: Of locations in the generated file, to their origins.
        code: What was converted, if it has code: the code.
    """
    first = getattr(code, "co_firstlineno", 1)
    joins = getattr(code, "co_name", LAMBDA) != LAMBDA
    written: dict[str, list[int]] = {}
    frames = {}
    for line, origin in source_map.items():
        path, number = origin.loc.filename, origin.loc.lineno
        if joins and path not in written:
            written[path] = _unjoined(path, first)
        numbers = written.get(path, ())
        if 0 <= number - first < len(numbers):
            number = numbers[number - first]
        frames[line.lineno] = (path, number, origin.function_name or LAMBDA)
    return frames


def _unjoined(path: str, first: int) -> list[int]:
    """Return the number of each line of a file from one on that none before is joined to."""
    before = ["", *linecache.getlines(path)[first - 1 : -1]]
    return [number for number, line in enumerate(before, first) if not line.endswith("\\\n")]
