"""The events of a run that a filter selects, found part by part.

What many events have in common is looked at once: a table by site, or by kind and stack, tells of
millions of rows.  Records are read only where a term asks for what they alone hold, and of those
rows alone that all other terms have left.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from tfdbg_tui.query.facts import (
    numbers_of,
    places_of_stack,
    texts_of_execution,
    texts_of_kind,
    texts_of_site,
)
from tfdbg_tui.query.language import ANY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tfdbg_tui.diagnosis.events import Kind
    from tfdbg_tui.logdir import Run
    from tfdbg_tui.logdir.index.columns import ColumnView
    from tfdbg_tui.query.language import Query, TextTerm

    Rows = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_WINDOW = 1 << 16  # rows looked at together
_READ = 256  # records read between two looks at the clock
_ONLY_RECORDED = ("device", "dtype")  # of executions: the index knows nothing of these


class Selection:
    """The rows of one list of a run that a filter selects.

    Args:
        run: The run.
        kind: Which list.
        query: The filter.
        found: Rows before `start` that the filter selects.
        start: The row to begin with: of an earlier state of the run all before it is known.
    """

    def __init__(
        self,
        run: Run,
        kind: Kind,
        query: Query,
        found: Rows | None = None,
        start: int = 0,
    ) -> None:
        self._run = run
        self._kind: Kind = kind
        self._query = query
        self._total = len(self._list)
        self._found: list[Rows] = [] if found is None else [found]
        self._waiting = np.zeros(0, np.int64)  # rows whose records are still to be read
        self._covered = start
        self._firsts: Rows | None = None
        self._tests: list[Callable[[Rows], Flags]] | None = None

    @property
    def _list(self) -> Sequence[object]:
        run = self._run
        return run.graph_executions if self._kind == "graph_execution" else run.executions

    @property
    def next_row(self) -> int:
        """The first row of which nothing is known yet."""
        return int(self._waiting[0]) if self._waiting.size else self._covered

    @property
    def complete(self) -> bool:
        """Whether all events of the run have been looked at."""
        return self._covered >= self._total and not self._waiting.size

    @property
    def rows(self) -> Rows:
        """The rows found so far, ascending."""
        if len(self._found) != 1:
            self._found = [np.concatenate([np.zeros(0, np.int64), *self._found])]
        return self._found[0]

    def advance(self, seconds: float) -> None:
        """Look at more events for about as long as `seconds`, and at some at least."""
        if self._tests is None:
            self._tests = self._make_tests()
        end = time.monotonic() + seconds
        while not self.complete:
            if self._waiting.size:
                self._read_some()
            else:
                self._next_window()
            if time.monotonic() > end:
                break

    def _next_window(self) -> None:
        stop = min(self._covered + _WINDOW, self._total)
        rows = self._candidates(self._covered, stop)
        for test in self._tests or ():
            rows = rows[test(rows)]
        self._covered = stop
        if self._reads_records:
            self._waiting = rows
        else:
            self._found.append(rows)

    def _candidates(self, start: int, stop: int) -> Rows:
        run, query = self._run, self._query
        graph = self._kind == "graph_execution"
        alerts = (run.graph_executions if graph else run.executions).alert_rows
        if query.bad is None and not query.only_bad:
            return np.arange(start, stop)
        low, high = alerts.searchsorted([start, stop]).tolist()
        bad = np.zeros(stop - start, bool)
        bad[alerts[low:high] - start] = True
        return np.flatnonzero(bad == query.only_bad) + start

    def _make_tests(self) -> list[Callable[[Rows], Flags]]:
        terms = self._query.texts
        if self._kind == "graph_execution":
            return [self._graph_test(terms)] if terms else []
        return [self._eager_test(t) for t in terms if t.field not in _ONLY_RECORDED]

    def _graph_test(self, terms: Sequence[TextTerm]) -> Callable[[Rows], Flags]:
        run, events = self._run, self._run.graph_executions
        table = np.zeros(events.num_sites, bool)
        asks_dtype = any(term.field in (ANY, "dtype") for term in terms)
        for number in range(events.num_sites):
            texts = texts_of_site(run, events.site_by_id(number))
            if asks_dtype and not texts["dtype"]:
                texts["dtype"] = self._recorded_dtype(number)
            table[number] = all(_fits(term, texts) for term in terms)
        return lambda rows: table[events.site_ids.take(rows)]

    def _recorded_dtype(self, site: int) -> tuple[str, ...]:
        """Return the dtype in the first record of a tensor whose graph does not tell it."""
        events = self._run.graph_executions
        if self._firsts is None:
            self._firsts = _first_rows(events.site_ids, events.num_sites)
        row = int(self._firsts[site])
        summary = events[row].summary if row >= 0 else None
        return (summary.dtype,) if summary and summary.dtype else ()

    def _eager_test(self, term: TextTerm) -> Callable[[Rows], Flags]:
        run, events = self._run, self._run.executions
        kinds = np.zeros(events.num_kinds, bool)
        for number in range(events.num_kinds):
            kinds[number] = term.fits(texts_of_kind(events.kind_by_id(number))) != term.negated
        stacks: dict[int, bool] = {}

        def of_stack(number: int) -> bool:
            if number not in stacks:
                texts = {"line": places_of_stack(run, number)}
                stacks[number] = _fits(term, texts) != term.negated
            return stacks[number]

        def test(rows: Rows) -> Flags:
            found = kinds[events.kinds.take(rows)]
            if term.field in (ANY, "line"):
                numbers, which = np.unique(events.stack_ids.take(rows), return_inverse=True)
                found |= np.array([of_stack(n) for n in numbers.tolist()], bool)[which]
            negated: Flags = found != term.negated
            return negated

        return test

    @property
    def _reads_records(self) -> bool:
        recorded = any(t.field in _ONLY_RECORDED for t in self._query.texts)
        return bool(self._query.numbers) or (recorded and self._kind == "execution")

    def _read_some(self) -> None:
        rows, self._waiting = self._waiting[:_READ], self._waiting[_READ:]
        self._found.append(rows[[self._record_fits(row) for row in rows.tolist()]])

    def _record_fits(self, row: int) -> bool:
        query = self._query
        if query.numbers:
            numbers = numbers_of(self._run, self._kind, row)
            if not all(term.fits(numbers) for term in query.numbers):
                return False
        terms = [t for t in query.texts if t.field in _ONLY_RECORDED]
        if self._kind != "execution" or not terms:
            return True
        texts = texts_of_execution(self._run, row)
        return all(term.fits(texts) for term in terms)


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


def _fits(term: TextTerm, texts: dict[str, Sequence[str]]) -> bool:
    """Whether a term fits; a word is looked for in the user's own place alone."""
    if term.field == ANY and texts.get("line"):
        texts = {**texts, "line": texts["line"][:1]}
    return term.fits(texts)
