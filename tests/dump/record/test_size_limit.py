"""How large files become, and what is kept in memory then."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("tensorflow")

from tfdbg_tui.dump.encode.executions import EagerValues
from tfdbg_tui.dump.record.held import Events, HeldEvents
from tfdbg_tui.dump.record.size_limit import SizeLimit
from tfdbg_tui.wire.modes import TensorDebugMode

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.tensorflow


def test_as_much_as_is_left_free_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SimpleNamespace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    limit = SizeLimit(str(tmp_path), None)
    assert not limit.reached_by(1000)
    assert limit.reached_by(1001)
    limit.raise_beyond(1001)
    assert not limit.reached_by(1200)
    assert limit.reached_by(1202) == "its files hold 1.2e-06 GB, with what is bad"
    disk.free = 10
    limit.raise_beyond(1202)
    assert not limit.reached_by(1211)
    assert limit.reached_by(1212)


def test_what_lies_elsewhere_has_no_limit_but_that_of_the_user(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert not SizeLimit(missing, None).reached_by(10**15)
    assert SizeLimit(missing, 1.5).reached_by(1_500_000_000)
    assert not SizeLimit(missing, 1.5).reached_by(1_499_999_999)
    limit = SizeLimit(missing, 1.5)
    limit.raise_beyond(1_500_000_000)
    assert limit.reached_by(1_800_000_000) == "max_gigabytes=1.5 is reached, with what is bad"


def some_events(nbytes: int, *, bad: bool = False) -> Events:
    slot = 0 if bad else None
    values = EagerValues(TensorDebugMode.CONCISE_HEALTH, bytes(nbytes), bad_slot=slot)
    execution: Any = (b"", values, (), (), (), b"", 1, 0, 0.0, None, b"", 0)
    return Events([execution], [])


def test_so_much_is_kept_at_least_and_the_oldest_goes_first() -> None:
    held = HeldEvents(1000)  # of which a tenth is kept
    rounds = [some_events(size) for size in (90, 60, 50, 0, 0, 0, 0)]
    dropped = [held.add(some).counts[0] for some in rounds]
    assert dropped == [0, 0, 0, 0, 0, 1, 0]
    assert held.all().executions == [e for some in rounds[1:] for e in some.executions]
    assert some_events(1, bad=True).are_bad
    assert not held.all().are_bad
