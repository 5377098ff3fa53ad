"""Functions whose results are kept with the `Dataflow` of which they are found out."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.diagnosis.dataflow.dataflow import Dataflow

_KEPT = 32  # results of each function

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


def kept(
    find: Callable[[Dataflow, *_Arguments], _Result],
) -> Callable[[Dataflow, *_Arguments], _Result]:
    """Let a function keep what it has found out of a run last, as others will ask for it again."""

    @wraps(find)
    def found(dataflow: Dataflow, *arguments: *_Arguments) -> _Result:
        known = dataflow.kept.get(find)
        if known is None:
            known = dataflow.kept[find] = lru_cache(_KEPT)(lambda *some: find(dataflow, *some))
        result: _Result = known(*arguments)
        return result

    return found
