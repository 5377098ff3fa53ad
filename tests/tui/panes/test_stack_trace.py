"""Stack Trace: of the root of a gradient first the op that it is the gradient of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.diagnosis import Explanation
from tfdbg_tui.logdir import open_run
from tfdbg_tui.tui.panes.stack_trace import FRAMES
from tfdbg_tui.tui.session.focus import Focus
from tfdbg_tui.tui.session.focusing import focus_event
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs


@pytest.fixture(scope="module")
def explained(logdirs: RecordedLogdirs) -> Snapshot:
    snapshot = Snapshot(open_run(logdirs["control_flow"]))
    return snapshot.explained(Explanation(snapshot.run, snapshot.alerts))


def test_the_root_of_a_gradient_stands_on_the_line_of_its_op(explained: Snapshot) -> None:
    assert explained.explanation is not None
    root = next(r for r in explained.explanation.report.roots if r.differentiated_at)
    focus = focus_event(explained, Focus("stack_trace"), root.event)
    assert focus.place is not None
    assert root.location is not None
    assert focus.place.line == root.location.line
    own = explained.own_frames(focus)
    assert own
    focus = FRAMES.select(explained, focus, FRAMES.count(explained, focus) - 1)
    assert focus.place is not None
    assert focus.place.line != root.location.line
    assert focus.place.path == root.location.file, "the user's frame, not that of a library"
    assert focus.frame is not None
    assert focus.frame >= own


def test_other_ops_have_their_own_stack_trace_alone(explained: Snapshot) -> None:
    assert explained.explanation is not None
    root = next(r for r in explained.explanation.report.roots if not r.differentiated_at)
    focus = focus_event(explained, Focus("stack_trace"), root.event)
    assert not explained.own_frames(focus)
