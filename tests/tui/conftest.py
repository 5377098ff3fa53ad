"""Opening the app on a recorded logdir, and reading what is on its screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.diagnosis.report.explanation import Explanation
from tfdbg_tui.logdir import open_run
from tfdbg_tui.query import searched
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.app import TfdbgApp
from tfdbg_tui.tui.background.diagnoser import Diagnoser
from tfdbg_tui.tui.bars import key_bar
from tfdbg_tui.tui.navigation import first_focus
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.session.snapshot import Snapshot

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.conftest import RecordedLogdirs
    from tfdbg_tui.tui.session.focus import Focus

NORMAL = (120, 40)


@pytest.fixture(autouse=True)
def _nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the app remembers, of a run that several tests open, to each test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def _messages_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep messages until another key: a slow machine would not see them."""
    monkeypatch.setattr(key_bar, "_MESSAGE_SECONDS", 3600.0)


_explanations: dict[str, Explanation] = {}
"""What diagnosis says of logdirs of tests/data."""


@pytest.fixture(autouse=True)
def _diagnosed_once(logdirs: RecordedLogdirs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Diagnose a logdir of tests/data once, and not for each test that opens the app on it."""
    diagnose = Diagnoser._new

    def diagnosed(diagnoser: Diagnoser, snapshot: Snapshot) -> Explanation:
        directory = snapshot.run.files.directory
        is_shared = Path(directory).parent == logdirs.directory
        if not (is_shared and snapshot.run.progress.complete):
            return diagnose(diagnoser, snapshot)
        if directory not in _explanations:
            _explanations[directory] = diagnose(diagnoser, snapshot)
        diagnoser._diagnosed = snapshot
        return _explanations[directory].retold({})  # without the chains that others have asked for

    monkeypatch.setattr(Diagnoser, "_new", diagnosed)


@dataclass
class Opened:
    """A running app whose run has been read."""

    app: TfdbgApp
    pilot: Pilot[int]

    @property
    def focus(self) -> Focus:
        return self.app.session.focus

    @property
    def snapshot(self) -> Snapshot:
        assert self.app.session.snapshot is not None
        return self.app.session.snapshot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        while self._is_finding():
            await self.pilot.pause(0.02)

    def _is_finding(self) -> bool:
        """Whether what the keys ask for is being found, which takes time on a loaded machine."""
        session = self.app.session
        listed = session.snapshot.listed.values() if session.snapshot else ()
        return session.finding_tree or any(not part.complete for part in listed)

    async def type(self, text: str) -> None:
        await self.press(*text, "enter")

    def active_pane(self) -> str | None:
        (pane,) = self.app.query(".-active")
        return pane.id

    def is_shown(self, pane: str) -> bool:
        found = self.app.query_one(f"#{pane}")
        return found.display and bool(found.region)

    def screen(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    def lines_with_background(self, variable: str) -> list[str]:
        """Return the text that stands on the background of a colour of the theme."""
        wanted = self.app.get_css_variables()[variable].lower()
        found = []
        for strip in self.app.screen._compositor.render_strips():
            text = "".join(
                segment.text
                for segment in strip
                if segment.style
                and segment.style.bgcolor
                and segment.style.bgcolor.get_truecolor().hex == wanted
            )
            if text.strip():
                found.append(text)
        return found


def search(snapshot: Snapshot, focus: Focus, text: str, step: int) -> Focus:
    """Go to the next (1) or previous (-1) match in the focused pane."""
    rows = pane_named(focus.pane).rows
    matches = rows.matches(snapshot, rows.for_search(snapshot, focus), searched(text))
    return navigation.search(snapshot, focus, matches, step, inclusive=False)


Open = Callable[..., AbstractAsyncContextManager[Opened]]


@asynccontextmanager
async def opened_app(
    logdir: Path | str, size: tuple[int, int] = NORMAL, *, at_root: bool = False, **options: object
) -> AsyncIterator[Opened]:
    """Open the app and wait until it is read; on its first events, or where it opens of itself."""
    app = TfdbgApp(str(logdir), **options)  # type: ignore[arg-type]
    async with app.run_test(size=size) as pilot:
        for _ in range(400):
            await pilot.pause(0.02)
            snapshot = app.session.snapshot
            if snapshot is not None and snapshot.explanation is not None:
                break
        else:
            raise AssertionError(f"{app.session.waiting}; {app.session.unexplained}")
        await pilot.pause()
        if not at_root and "at" not in options:
            app.session.focus = first_focus(snapshot)
        yield Opened(app, pilot)


@pytest.fixture
def open_app() -> Open:
    """Opens the app on a logdir and waits until it is read."""
    return opened_app


@pytest.fixture(scope="session")
def mnist(logdirs: RecordedLogdirs) -> Snapshot:
    """The tutorial's program: `Log` of a softmax with zeros."""
    return Snapshot(open_run(logdirs["mnist"]))


@pytest.fixture(scope="session")
def explained(mnist: Snapshot) -> Snapshot:
    """The tutorial's program, diagnosed: one root."""
    return mnist.explained(Explanation(mnist.run, mnist.alerts))


@pytest.fixture(scope="session")
def two_roots(control_flow: Snapshot) -> Snapshot:
    """The program with nested functions, diagnosed: two roots."""
    return control_flow.explained(Explanation(control_flow.run, control_flow.alerts))


@pytest.fixture(scope="session")
def control_flow(logdirs: RecordedLogdirs) -> Snapshot:
    """Nested functions, loops, branches."""
    return Snapshot(open_run(logdirs["control_flow"]))
