"""Tests of rows by what many events have in common: their sites, or their kinds and stacks.

A table says of each site whether it fits; a million rows are then one look-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.diagnosis import LayersOfOps
from tfdbg_tui.query.facts import texts_of_kind, texts_of_site, texts_of_stack
from tfdbg_tui.query.language import ANY
from tfdbg_tui.query.numbers import steps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import ColumnView
    from tfdbg_tui.query.facts import CodeTexts, Texts
    from tfdbg_tui.query.language import NumberTerm, TextTerm

    Rows = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]
    Test = Callable[[Rows], Flags]

ONLY_RECORDED = ("device", "dtype")  # of executions: the index knows nothing of these


class RowTests:
    """Makes tests of the rows of one list of a run; remembers the texts that they look at.

    Args:
        run: The run.
        kind: Which list.
    """

    def __init__(self, run: Run, kind: Kind) -> None:
        self._run = run
        self._kind: Kind = kind
        self._layers = LayersOfOps(run)
        self._sites: dict[int, Texts] = {}
        self._stacks: dict[int, CodeTexts] = {}
        self._firsts: Rows | None = None

    def of(self, terms: Sequence[TextTerm]) -> list[Test]:
        """Return tests that rows have to pass, all of them, for the terms to hold.

        What only a record of an execution tells (`ONLY_RECORDED`) is left to who reads it.
        """
        if self._kind == "graph_execution":
            return [self._site_test(terms)] if terms else []
        return [self._kind_test(term) for term in terms if term.field not in ONLY_RECORDED]

    def of_step(self, term: NumberTerm) -> Test:
        """Return a test of executions, whose steps the index knows."""
        return lambda rows: term.fits({"step": steps_of(self._run, rows)})

    def _site_test(self, terms: Sequence[TextTerm]) -> Test:
        events = self._run.graph_executions
        sites = [self._texts_of_site(number) for number in range(events.num_sites)]
        if any(term.field in (ANY, "dtype") for term in terms):
            for number, texts in enumerate(sites):
                texts["dtype"] = texts["dtype"] or self._recorded_dtype(number)
        table = np.all([_fitting(term, sites) for term in terms], axis=0)
        return lambda rows: table[events.site_ids.take(rows)]

    def _texts_of_site(self, number: int) -> Texts:
        if number not in self._sites:
            site = self._run.graph_executions.site_by_id(number)
            self._sites[number] = texts_of_site(self._run, site, self._layers, self._texts_of_stack)
        return self._sites[number]

    def _texts_of_stack(self, stack: int) -> CodeTexts:
        if stack not in self._stacks:
            self._stacks[stack] = texts_of_stack(self._run, stack)
        return self._stacks[stack]

    def _recorded_dtype(self, site: int) -> tuple[str, ...]:
        """Return the dtype in the first record of a tensor whose graph does not tell it."""
        events = self._run.graph_executions
        if self._firsts is None:
            self._firsts = _first_rows(events.site_ids, events.num_sites)
        row = int(self._firsts[site])
        summary = events[row].summary if row >= 0 else None
        return (summary.dtype,) if summary and summary.dtype else ()

    def _kind_test(self, term: TextTerm) -> Test:
        run, events = self._run, self._run.executions
        fitting = (term.fits(texts_of_kind(run, kind)) for kind in events.distinct_kinds)
        kinds = np.array([fits != term.negated for fits in fitting], bool)
        stacks: dict[int, bool] = {}

        def of_stack(number: int) -> bool:
            if number not in stacks:
                written = self._texts_of_stack(number)
                texts: Texts = {"line": written.places, "fn": (written.function,)}
                stacks[number] = bool(_fitting(term, [texts])[0]) != term.negated
            return stacks[number]

        def test(rows: Rows) -> Flags:
            found = kinds[events.kinds.take(rows)]
            if term.field in ("line", "fn") or (term.field == ANY and not kinds.any()):
                numbers, which = np.unique(events.stack_ids.take(rows), return_inverse=True)
                found |= np.array([of_stack(n) for n in numbers.tolist()], bool)[which]
            negated: Flags = found != term.negated
            return negated

        return test


def _first_rows(column: ColumnView, count: int) -> Rows:
    """Return the first row that holds each number up to `count`; -1 for none."""
    firsts = np.full(count, -1)
    for start, numbers in column.blocks():
        found, rows = np.unique(numbers, return_index=True)
        new = firsts[found] < 0
        firsts[found[new]] = start + rows[new]
        if (firsts >= 0).all():
            break
    return firsts


def _fitting(term: TextTerm, some: Sequence[Texts]) -> Flags:
    """Return which of some texts a term fits.

    A word is looked for in source lines only where nothing else holds it, and there in the user's
    own place alone: the name of a file is often a part of all of them.
    """
    if term.field == ANY:
        named = [{**texts, "line": ()} for texts in some]
        if any(term.fits(texts) != term.negated for texts in named):
            some = named
        else:
            some = [{**texts, "line": texts["line"][:1]} for texts in some]
    return np.array([term.fits(texts) for texts in some], bool)
