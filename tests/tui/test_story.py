"""The tutorial's story, told with keys: from the first alert to the line that needs a fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import name_of
from tfdbg_tui.tui.session.focusing import focused_event

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tests.tui.conftest import Open


async def test_from_the_first_alert_to_the_source_line(
    open_app: Open, logdirs: RecordedLogdirs
) -> None:
    async with open_app(logdirs["mnist"]) as opened:
        await opened.press("a")
        event = focused_event(opened.snapshot, opened.focus)
        assert name_of(opened.snapshot.run, event) == "Log:0"
        assert any("Log:0" in line for line in opened.lines_with_background("focus-back"))

        yellow = opened.lines_with_background("input-back")
        assert any("139 Softmax:0" in line for line in yellow), "its input, in another function"

        await opened.press("enter")
        assert opened.focus.pane == "graph_structure"
        assert opened.focus.op.name == "Log"
        assert any("loss(probs)" in line for line in opened.lines_with_background("input-back"))

        await opened.press("6", "enter")
        assert opened.focus.pane == "source_code"
        orange = opened.lines_with_background("focus-back")
        assert any("tf.math.log(probs)" in line for line in orange)

        await opened.press("3", "o")
        event = focused_event(opened.snapshot, opened.focus)
        assert name_of(opened.snapshot.run, event) == "Softmax:0"
        orange = opened.lines_with_background("focus-back")
        assert any("return tf.nn.softmax(logits)" in line for line in orange)

        await opened.press("backspace")
        assert opened.focus.graph_execution == 141
