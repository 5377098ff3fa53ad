"""What becomes of the focus when rows of the run have moved."""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

from tfdbg_tui.diagnosis.events import TensorEvent
from tfdbg_tui.tui.session.focus import KEPT, Focus
from tfdbg_tui.tui.session.remap import remapped


class MovedByOne:
    """A list of ten events whose rows are one further down in the later state."""

    def __init__(self, shift: int) -> None:
        self._shift = shift

    def __len__(self) -> int:
        return 10 + self._shift

    def place(self, row: int) -> int:
        return row - self._shift

    def index_of(self, place: int) -> int:
        return place + self._shift


def run(shift: int) -> Any:
    return SimpleNamespace(
        state=SimpleNamespace(generation=0),
        files=SimpleNamespace(file_sets=[1, 2]),
        executions=MovedByOne(shift),
        graph_executions=MovedByOne(shift),
    )


def test_every_field_says_how_it_is_remapped_and_none_that_holds_an_event_is_kept() -> None:
    for field in fields(Focus):
        assert "remap" in field.metadata, field.name
        holds_an_event = "TensorEvent" in str(field.type) or field.name.endswith("execution")
        assert (field.metadata == KEPT) is not holds_an_event, field.name


def test_whatever_holds_an_event_moves_with_it() -> None:
    moving = [field for field in fields(Focus) if field.metadata != KEPT]
    before, after = TensorEvent("execution", 3, 0), TensorEvent("execution", 4, 0)
    values: dict[str, Any] = {"tensor": before, "tensors": frozenset({before})}
    moved: dict[str, Any] = {"tensor": after, "tensors": frozenset({after})}
    kinds = {field.name: field.metadata["remap"] for field in moving}
    begun = Focus("alerts")
    focus = replace(begun, **{name: values.get(kind, 3) for name, kind in kinds.items()})
    expected = replace(begun, **{name: moved.get(kind, 4) for name, kind in kinds.items()})
    assert remapped(focus, run(0), run(1)) == expected
