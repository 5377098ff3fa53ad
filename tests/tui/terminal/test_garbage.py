"""When garbage is looked for."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui.terminal.garbage import PAUSE_SECONDS, Garbage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Objects:
    """Stands for Python's own collector: how many there are, and what has been looked at."""

    def __init__(self) -> None:
        self.count = (0, 0, 0)
        self.looks: list[int] = []

    def collect(self, generation: int = 2) -> int:
        self.looks.append(generation)
        return 0


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> _Objects:
    made = _Objects()
    monkeypatch.setattr(gc, "get_count", lambda: made.count)
    monkeypatch.setattr(gc, "collect", made.collect)
    return made


@pytest.fixture
def thresholds() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    Garbage.leave_to_pauses()
    yield gc.get_threshold()
    gc.set_threshold(*before)
    gc.unfreeze()


def after_a_key(seconds: float) -> Callable[[], None]:
    now = 0.0
    garbage = Garbage(lambda: now)
    now = 100.0
    garbage.touched()
    now += seconds
    return garbage.look


def test_a_key_does_not_wait(objects: _Objects) -> None:
    objects.count = (9_000, 9, 90)
    after_a_key(PAUSE_SECONDS / 2)()
    assert objects.looks == []


def test_new_objects_are_looked_at_in_a_pause(objects: _Objects) -> None:
    objects.count = (9_000, 0, 90)
    after_a_key(2 * PAUSE_SECONDS)()
    assert objects.looks == [1]


def test_a_pause_with_nothing_new_costs_nothing(objects: _Objects) -> None:
    objects.count = (100, 0, 90)
    after_a_key(2 * PAUSE_SECONDS)()
    assert objects.looks == []


def test_all_objects_are_looked_at_in_a_long_pause(objects: _Objects) -> None:
    objects.count = (100, 0, 90)
    after_a_key(60.0)()
    assert objects.looks == [2]


def test_python_looks_by_itself_where_there_is_no_pause(thresholds: tuple[int, int, int]) -> None:
    assert all(0 < threshold < 100_000 for threshold in thresholds)
