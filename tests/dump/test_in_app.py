"""What the app makes of a dump in ADAPTIVE mode, where a tensor's records come in two forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402
from tfdbg_tui.tui import navigation  # noqa: E402
from tfdbg_tui.tui.session.focus import OpName  # noqa: E402
from tfdbg_tui.tui.session.snapshot import Snapshot  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


def test_consumers_in_graph_structure_are_of_the_same_call(tmp_path: Path) -> None:
    @tf.function
    def entropy(p: Any) -> Any:
        return p * tf.math.log(p)

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    for values in ([0.5, 0.5], [0.25, 0.75], [1.0, 0.0]):
        entropy(tf.constant(values))
    tfdbg_tui.disable_dump_debug_info()

    snapshot = Snapshot(tfdbg_tui.open_run(tmp_path))
    focus = navigation.first_alert(snapshot, navigation.first_focus(snapshot))
    assert isinstance(focus.op, OpName)
    tree = snapshot.tree(focus)
    assert tree is not None
    consumer = tree.rows[tree.centre + 1].node
    assert consumer.event is not None
    summary = snapshot.summary(consumer.event)
    assert summary is not None
    assert (consumer.name, summary.nan) == ("mul", 1)
