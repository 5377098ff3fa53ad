"""The order of several processes' events, over more of them than one tally counts."""

from __future__ import annotations

import numpy as np

from tfdbg_tui.logdir.columns import Column, GrowingArray, OffsetColumn
from tfdbg_tui.logdir.merge import Merge
from tfdbg_tui.logdir.rows import STRIDE, Rows


class Log:
    """A log of events at some times, each bad whose time is a multiple of 100."""

    def __init__(self) -> None:
        self.times = np.zeros(0)
        self.numbers = Column()
        self.alerts, self.alert_slots = GrowingArray(), GrowingArray()

    @property
    def columns(self) -> tuple[Column, ...]:
        return (self.numbers,)

    def __len__(self) -> int:
        return len(self.times)

    def wall_times(self, rows) -> np.ndarray:
        return self.times[rows]

    def grow(self, times: np.ndarray) -> None:
        bad = np.flatnonzero(times % 100 == 0) + len(self.times)
        self.alerts.extend(bad)
        self.alert_slots.extend(np.zeros(len(bad)))
        self.times = np.concatenate([self.times, times])
        self.numbers.extend(times)


def test_any_growth_ends_in_the_order_of_time() -> None:
    rng = np.random.default_rng(0)
    logs = [Log() for _ in range(3)]
    merge = Merge(len(logs), num_columns=1)
    snapshots = []
    for part in range(8):
        for number, log in enumerate(logs):
            if number != 2 or part % 3 == 2:  # one is written, or read, late
                since = 10_000 * (part - 2 * (number == 2))
                log.grow(np.sort(rng.integers(max(0, since), 10_000 * (part + 1), 2500)) * 1.0)
        merge.update(logs)
        expected = _expected(logs)
        rows = Rows([len(log) for log in logs], merge)
        _check(rows, expected)
        snapshots.append((rows, expected))
        assert merge.columns[0].view()[:].tolist() == [int(time) for time, _, _ in expected]
        bad = [i for i, (time, _, _) in enumerate(expected) if time % 100 == 0]
        assert merge.alerts.view().tolist() == bad
    assert len(rows) > 4 * STRIDE
    for rows, expected in snapshots:  # what was handed out has not changed since
        _check(rows, expected)


def _expected(logs: list[Log]) -> list[tuple[float, int, int]]:
    return sorted(
        (float(time), number, row)
        for number, log in enumerate(logs)
        for row, time in enumerate(np.maximum.accumulate(log.times))
    )


def _check(rows: Rows, expected: list[tuple[float, int, int]]) -> None:
    places = [(log, row) for _, log, row in expected]
    some = np.random.default_rng(1).integers(0, len(rows), 200)
    for indices in (some, np.arange(len(rows))):
        found = {}
        for log, where, in_log in rows.split(indices):
            found |= {int(w): (log, int(r)) for w, r in zip(where, in_log, strict=True)}
        assert [found[i] for i in range(len(indices))] == [places[i] for i in indices]
    for i in some.tolist():
        assert rows.locate(i) == places[i]
        assert rows.index(*places[i]) == i


def test_first_row_from_a_number() -> None:
    column = OffsetColumn()
    assert column.first_from(5) == 0
    values = np.arange(600_000) // 3 * 2 + 7
    column.extend(values)
    for value in (0, 7, 8, 9, 174_767, 174_769, 349_529, 400_003, 400_005, 10**9):
        assert column.first_from(value) == np.searchsorted(values, value)
