"""What the debugger announces of its own accord: the first bad tensor, and runs that begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis.events import name_of

if TYPE_CHECKING:
    from tfdbg_tui.tui.session.session import Session
    from tfdbg_tui.tui.terminal.text import Charset

_NAME_WIDTH = 20  # of a name in the line that tells how the recording is doing


class News:
    """Tells news from what is known.

    Args:
        session: What is shown.
        charset: The characters to draw with.
    """

    def __init__(self, session: Session, charset: Charset) -> None:
        self._session = session
        self._charset = charset
        self._was_bad = False

    def forget(self) -> None:
        """Start over, for another run."""
        self._was_bad = False

    def first_bad(self) -> bool:
        """Announce the first bad tensor of a run that is being recorded.

        Returns:
            Whether there was one to announce.
        """
        session = self._session
        snapshot = session.held or session.snapshot
        explanation = snapshot.explanation if snapshot else None
        root = explanation.root if explanation else None
        begins, self._was_bad = root is not None and not self._was_bad, root is not None
        if not begins or not (session.live.attached or session.live.growing):
            return False
        assert snapshot is not None
        assert root is not None
        name = self._charset.fit_name(name_of(snapshot.run, root), _NAME_WIDTH)
        session.live.announcement = f" first bad tensor {name.rstrip()}: a "
        return True
