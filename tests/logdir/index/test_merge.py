"""The order of several processes' events, over more of them than one tally counts."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from tfdbg_tui.logdir.index.alert_log import AlertLog
from tfdbg_tui.logdir.index.columns import AscendingColumn, Column
from tfdbg_tui.logdir.index.merge import STRIDE, Merge, Order
from tfdbg_tui.logdir.index.rows import Rows


class Log:
    """A log of events at some times, each bad whose time is a multiple of 100."""

    def __init__(self) -> None:
        self.times = np.zeros(0)
        self.numbers = Column()
        self.alerts = AlertLog()

    @property
    def columns(self) -> tuple[Column, ...]:
        return (self.numbers,)

    def __len__(self) -> int:
        return len(self.times)

    def wall_times(self, rows: npt.ArrayLike) -> np.ndarray:
        return np.asarray(self.times[np.asarray(rows)])

    def grow(self, times: np.ndarray) -> None:
        bad = np.flatnonzero(times % 100 == 0) + len(self.times)
        kinds = np.ones(len(bad), np.int64)
        self.alerts.extend(bad, times[times % 100 == 0].astype(int), kinds, bad % 7)
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
        merge.take_in(logs)
        expected = _expected(logs)
        rows = Rows([len(log) for log in logs], merge)
        _check(rows, expected)
        snapshots.append((rows, expected))
        assert merge.columns[0].view()[:].tolist() == [int(time) for time, _, _ in expected]
        bad = [i for i, (time, _, _) in enumerate(expected) if time % 100 == 0]
        assert merge.alert_rows.view()[:].tolist() == bad
        slots = [row % 7 for time, _, row in expected if time % 100 == 0]
        assert merge.alert_slots.view()[:].tolist() == slots
    assert len(rows) > 4 * STRIDE
    for rows, expected in snapshots:  # what was handed out has not changed since
        _check(rows, expected)


def test_time_goes_on_where_a_clock_was_set_back() -> None:
    logs = [Log(), Log()]
    order = Order(len(logs))
    for start in (10_000, 2_000, 2_100):
        times = start + np.arange(0, 100.0, 2)
        times[10] = 0.0  # a record without one
        logs[0].grow(times)
        logs[1].grow(start + np.arange(1, 100.0, 2))
        updated = order.update(logs)
        assert updated is not None
        assert len(updated[1]) < 104, "what came before the clock was set stays where it is"
    rows = Rows([len(log) for log in logs], order)
    found = [rows.locate(index) for index in range(300)]
    assert sorted(found) == [(log, row) for log in (0, 1) for row in range(150)]
    assert all(abs(row - index / 2) < 3 for index, (_, row) in enumerate(found))


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
        found: dict[int, tuple[int, int]] = {}
        for log, where, in_log in rows.split(indices):
            found |= {int(w): (log, int(r)) for w, r in zip(where, in_log, strict=True)}
        assert [found[i] for i in range(len(indices))] == [places[i] for i in indices]
    for i in some.tolist():
        assert rows.locate(i) == places[i]
        assert rows.index(*places[i]) == i


@pytest.mark.parametrize("side", ["left", "right"])
def test_ascending_numbers_are_found(side: Literal["left", "right"]) -> None:
    column = AscendingColumn()
    assert column.view().searchsorted([5], side).tolist() == [0]
    values = np.arange(600_000) // 3 * 2 + 7  # equal ones on both sides of a block's end
    column.extend(values)
    wanted = [0, 7, 8, 9, 174_767, 174_769, 349_529, 400_003, 400_005, 10**9, 10**12]
    found = column.view().searchsorted(wanted, side)
    assert found.tolist() == np.searchsorted(values, wanted, side).tolist()
    assert column.view()[262_140:262_150].tolist() == values[262_140:262_150].tolist()
