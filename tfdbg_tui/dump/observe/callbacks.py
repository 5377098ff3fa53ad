"""What a graph calls when it runs: two Python functions for all graphs, which are always there.

A PyFunc op names a registered Python function, and one that is no longer there ends the program.
A graph's group must not stay for ever, though: it costs as much as the graph.  So the op hands in
a row with the number of its group (see `row_queue`), which is kept by its graph and looked up here
when the graph runs.  Where TensorFlow still runs a function whose graph is gone, such as one in the
pipeline of a `tf.data` variant, the program goes on and the logdir says that this is not on record.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, WeakValueDictionary

from tfdbg_tui.dump.tensorflow import internals

if TYPE_CHECKING:
    from tfdbg_tui.dump.observe.groups import Group
    from tfdbg_tui.dump.writer import DumpWriter

writers: WeakSet[DumpWriter] = WeakSet()
"""Who has groups."""

_groups: WeakValueDictionary[int, Group] = WeakValueDictionary()
_numbers = itertools.count(1)
_missed: set[int] = set()


def number_of(group: Group) -> int:
    """Return a number by which a graph can call a group for as long as the group is there."""
    number = next(_numbers)
    _groups[number] = group
    return number


@functools.cache
def sink_token() -> str:
    """Return the token of the PyFunc that hands the values of a group to its `sink`."""
    return internals.py_func_token(_sink)


@functools.cache
def detail_token() -> str:
    """Return the token of the PyFunc that hands bad tensors of a group to its `detail`."""
    return internals.py_func_token(_detail)


def is_own(token: str) -> bool:
    """Return whether a PyFunc with this token is ours."""
    return token in (sink_token(), detail_token())


def group_of(number: int) -> Group | None:
    """Return a group by its number; where it is gone, say so in the logdir, once."""
    group = _groups.get(number)
    if group is None:
        _miss(number)
    return group


def _sink(row: Any, *arrays: Any) -> list[Any]:
    group = group_of(int(row.flat[0]))
    return group.sink(row, *arrays) if group is not None else []


def _detail(row: Any, curt: Any, *tensors: Any) -> Any:
    group = _groups.get(int(row.flat[0]))
    return group.detail(row, curt, *tensors) if group is not None else row


def _miss(number: int) -> None:
    if number in _missed:
        return
    _missed.add(number)
    for writer in list(writers):
        if writer.active:
            writer.skip("a function", "TensorFlow runs it although the program has deleted it")
