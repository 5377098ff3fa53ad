"""What the debugger announces of its own accord: the first bad tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import name_of

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.terminal.text import Charset

_NAME_WIDTH = 20  # of a name in the line that tells how the recording is doing


def announce_first_bad(session: Session, charset: Charset) -> bool:
    """Announce the first bad tensor of a run that is being recorded.

    Args:
        session: What is shown.
        charset: The characters to draw with.

    Returns:
        Whether there was one to announce.
    """
    recording, snapshot = session.recording, session.held or session.snapshot
    explanation = snapshot.explanation if snapshot else None
    root = explanation.root if explanation else None
    begins, recording.was_bad = root is not None and not recording.was_bad, root is not None
    if not begins or not (recording.attached or recording.growing):
        return False
    assert snapshot is not None
    assert root is not None
    name = charset.fit_name(name_of(snapshot.run, root), _NAME_WIDTH)
    recording.announcement = f" first bad tensor {name.rstrip()}, a goes there "
    return True
