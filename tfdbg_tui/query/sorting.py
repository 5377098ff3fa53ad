"""In which order tensors stand when a list is sorted by a field of the language."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdbg_tui.diagnosis import LayersOfOps
from tfdbg_tui.query.facts import (
    texts_of_execution,
    texts_of_kind,
    texts_of_site,
    texts_of_stack,
)
from tfdbg_tui.query.language import NUMBERS, TEXTS
from tfdbg_tui.query.numbers import RecordedNumbers
from tfdbg_tui.query.row_tests import ONLY_RECORDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.logdir import Run

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

SORT_FIELDS = (*TEXTS, *NUMBERS)
"""The fields that lists can be sorted by."""

_FROM_THE_LEAST = (*TEXTS, "step", "min")  # of the others the largest come first
_READ = 1 << 15  # records read together


class Outputs(NamedTuple):
    """Some tensors of one list of a run.

    Attributes:
        kind: Which list.
        rows: The rows of their events.
        slots: Which output of its event each is.
    """

    kind: Kind
    rows: Ints
    slots: Ints


def sort_keys(
    run: Run, field: str, parts: Sequence[Outputs], used_in: Mapping[int, int] | None = None
) -> Floats:
    """Return a number for each of some tensors, smaller for what comes first; NaN for no text.

    Args:
        run: The run.
        field: One of `SORT_FIELDS`.
        parts: The tensors; the keys are in their order.
        used_in: See `RecordedNumbers`.
    """
    if field in NUMBERS:
        recorded = RecordedNumbers(run, used_in)
        keys = np.concatenate([_numbers(recorded, field, part) for part in parts])
        return keys if field in _FROM_THE_LEAST else -keys
    texts = [_texts(run, field, part) for part in parts]
    known = sorted({text for table, _ in texts for text in table} - {""})
    ranks = {text: float(rank) for rank, text in enumerate(known)}
    tables = [np.array([ranks.get(text, np.nan) for text in table], float) for table, _ in texts]
    found = [table[numbers] for table, (_, numbers) in zip(tables, texts, strict=True)]
    return np.concatenate(found)


def in_order(ids: Ints, keys: Floats, *, reverse: bool) -> Ints:
    """Return ids by their keys; equal ones by themselves, and those without a key last.

    Args:
        ids: The ids, shape [n].
        keys: The key of each; NaN for none.
        reverse: Whether the largest key comes first.
    """
    return ids[np.lexsort((ids, -keys if reverse else keys))]


def first_in_order(field: str, *, reverse: bool) -> str:
    """Return in words what comes first in a list sorted by a field.

    Args:
        field: One of `SORT_FIELDS`.
        reverse: Whether the order is turned round.
    """
    if field in TEXTS:
        return "Z first" if reverse else "A first"
    return "smallest first" if (field in _FROM_THE_LEAST) != reverse else "largest first"


def _numbers(recorded: RecordedNumbers, field: str, part: Outputs) -> Floats:
    found = [np.zeros(0)]
    for start in range(0, len(part.rows), _READ):
        rows, slots = part.rows[start : start + _READ], part.slots[start : start + _READ]
        tensors = recorded.of(part.kind, rows)
        firsts = np.searchsorted(tensors.events, np.arange(len(rows)))
        found.append(tensors.numbers[field][firsts + slots])
    return np.concatenate(found)


def _texts(run: Run, field: str, part: Outputs) -> tuple[list[str], Ints]:
    """Return (some texts, the number of that of each tensor)."""
    if part.kind == "graph_execution":
        return _texts_of_sites(run, field, part.rows)
    executions = run.executions
    if field in ONLY_RECORDED:
        texts = [_first(texts_of_execution(run, row)[field]) for row in part.rows.tolist()]
        return texts, np.arange(len(texts))
    if field == "line":
        numbers, which = np.unique(executions.stack_ids.take(part.rows), return_inverse=True)
        return [_first(texts_of_stack(run, number).places) for number in numbers.tolist()], which
    names = executions.kinds.take(part.rows)
    kinds, which = np.unique(names, return_inverse=True)
    return [
        _first(texts_of_kind(run, executions.distinct_kinds[number])[field])
        for number in kinds.tolist()
    ], which


def _texts_of_sites(run: Run, field: str, rows: Ints) -> tuple[list[str], Ints]:
    code = cache(lambda stack: texts_of_stack(run, stack))
    events = run.graph_executions
    sites, which = np.unique(events.site_ids.take(rows), return_inverse=True)
    layers = LayersOfOps(run)
    found = (texts_of_site(run, events.site_by_id(n), layers, code) for n in sites.tolist())
    return [_first(texts[field]) for texts in found], which


def _first(texts: Sequence[str]) -> str:
    return texts[0] if texts else ""
