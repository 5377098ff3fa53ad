"""The choice of a run, where a logdir holds several: where, since when, and what is wrong."""

from __future__ import annotations

import os
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input
from textual.widgets.option_list import Option

from tfdbg_tui.diagnosis import duration, verdict_word
from tfdbg_tui.tui.background.surveyor import Surveyed, Surveyor
from tfdbg_tui.tui.screens.only_while_open import OnlyWhileOpen
from tfdbg_tui.tui.screens.palette import Options
from tfdbg_tui.tui.terminal.text import compact
from tfdbg_tui.tui.widgets.scrollbars import draw_scrollbar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from tfdbg_tui.diagnosis import Report
    from tfdbg_tui.logdir import RunFiles
    from tfdbg_tui.tui.background.surveyor import Reports
    from tfdbg_tui.tui.terminal.text import Charset

_WIDEST = 118
_SCROLLBAR = 2
_VERDICT, _ALERTS, _EVENTS, _AGE = 12, 15, 14, 9  # widths of columns
_LABEL = 38  # of what tells the runs of a directory apart
_NOTHING = " No run holds that: Backspace."
_STYLES = {"bad": "bold $bad", "clean": "$good"}


class RunsScreen(OnlyWhileOpen, ModalScreen["RunFiles"]):
    """The runs, the newest first, and a line to filter them; gives the chosen one.

    Args:
        runs: The runs, oldest first.
        logdir: The directory that they were found in.
        charset: The characters to draw with.
        found: What lists before this one have found of runs; what this one finds is added.
        shown: The identity of the run that is shown, with which one can stay; None for none.
        newer: Whether a newer one has been offered, which is chosen then.
        known: Reports of runs that are not to be looked at, by their identity.
        workers: Names of those that are processes of one job, by their identity.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "stay"),
        Binding("up", "list('cursor_up')", show=False, priority=True),
        Binding("down", "list('cursor_down')", show=False, priority=True),
        Binding("pageup", "list('page_up')", show=False, priority=True),
        Binding("pagedown", "list('page_down')", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    RunsScreen { align: center middle; }
    RunsScreen > Vertical {
        width: 120;
        max-width: 100%;
        height: auto;
        max-height: 90%;
        border: round $rule-active;
        background: $surface;
    }
    RunsScreen > Vertical.-ascii { border: ascii $rule-active; }
    RunsScreen Input, RunsScreen Input:focus {
        height: 1; border: none; padding: 0 1; background: $panel;
    }
    RunsScreen Options, RunsScreen Options:focus {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(
        self,
        runs: Sequence[RunFiles],
        logdir: str,
        charset: Charset,
        *,
        found: Reports,
        shown: tuple[str, str] | None = None,
        newer: bool = False,
        known: Mapping[tuple[str, str], Report] = MappingProxyType({}),
        workers: Mapping[tuple[str, str], str] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self._runs = list(reversed(runs))
        self._top = os.path.expanduser(logdir)
        self._charset = charset
        self._can_close = shown is not None
        of_shown = (files for files in runs if files.identity == shown and not newer)
        self._first = next(of_shown, None)
        self._workers = workers
        self._shown: list[RunFiles] = []
        self._reports: dict[RunFiles, Report | None] = {
            files: known[files.identity] for files in runs if files.identity in known
        }
        others = [files for files in runs if files not in self._reports]
        self._surveyor = Surveyor(others, found, self.post_message)
        self._filter = Input(placeholder="filter: path, verdict, id", compact=True)
        self._options = Options()
        draw_scrollbar(self._options, charset)
        self._box = Vertical(classes="-ascii" if charset.ascii_only else "")
        self._marked: int | None = None

    def compose(self) -> ComposeResult:
        """See Textual."""
        with self._box as box:
            box.border_subtitle = self._hint()
            yield self._filter
            yield self._options

    def on_mount(self) -> None:
        """Show the runs, and look at each of them."""
        self._options.can_focus = False
        self.set_focus(self._filter)  # now: keys may wait already
        self._list()
        self._surveyor.start()

    def on_unmount(self) -> None:
        """Look at no more of them."""
        self._surveyor.stop()

    @on(Input.Changed)
    def _list(self) -> None:
        """List the runs that hold all words of the filter."""
        words = self._filter.value.lower().split()
        options = self._options
        row = options.highlighted
        chosen = self._shown[row] if row is not None else self._first
        self._shown = [f for f in self._runs if all(word in self._text(f) for word in words)]
        options.clear_options()
        for files in self._shown:
            options.add_option(Option(self._line(files), id=str(self._runs.index(files))))
        if not self._shown:
            options.add_option(Option(Content.styled(_NOTHING, "$dim"), disabled=True))
        self._box.border_title, self._box.border_subtitle = self._title(), self._hint()
        self._marked = None
        if self._shown:
            options.highlighted = self._shown.index(chosen) if chosen in self._shown else 0
        self._mark()

    def _title(self) -> str:
        every, shown = len(self._runs), len(self._shown)
        if shown < every:
            return f"{shown:,} of {every:,} runs"
        return "the only run" if every == 1 else f"{every:,} runs: choose one"

    def _hint(self) -> str:
        leave = "Esc closes" if self._can_close else "Esc quits"
        escape = "Esc lists all" if self._filter.value else leave
        return f"type to filter, Enter opens, {escape}"

    @on(Options.OptionHighlighted)
    def _mark(self) -> None:
        """Mark the chosen run, which 16 colours and none do not tell."""
        row = self._options.highlighted
        for number in (self._marked, row):
            if number is not None:
                line = self._line(self._shown[number], chosen=number == row)
                self._options.replace_option_prompt_at_index(number, line)
        self._marked = row

    def on_resize(self) -> None:
        """Make the columns fit."""
        self._list()

    def on_surveyed(self, message: Surveyed) -> None:
        """Show what has been found out about a run."""
        self._reports[message.files] = message.report
        self._list()

    def _where(self, files: RunFiles) -> str:
        """Return the directory of a run, as seen from the logdir."""
        path = os.path.relpath(files.directory, self._top) if "://" not in self._top else ""
        return self._charset.safe(path or files.directory)

    def _text(self, files: RunFiles) -> str:
        report = self._reports.get(files)
        return f"{self._where(files)} {self._label(files)} {_verdict(report)}".lower()

    def _line(self, files: RunFiles, *, chosen: bool = False) -> Content:
        fit, mark = self._charset.fit, self._charset.focus if chosen else " "
        room = min(_WIDEST, self.app.size.width - 2) - _SCROLLBAR
        label = _LABEL if room > 100 else 10
        path = room - len(mark) - label - _VERDICT - _ALERTS - _AGE - (_EVENTS if room > 90 else 0)
        verdict, alerts, events = self._found(files)
        where = self._charset.fit_path(self._where(files), path - 1)
        # On the background of the chosen line nothing but plain text is legible.
        dim, style = ("", "") if chosen else ("$dim", _STYLES.get(verdict, "$dim"))
        return Content.assemble(
            mark,
            (where + " " * (path - cell_len(where)), "bold"),
            (fit(verdict, _VERDICT), style),
            fit(alerts, _ALERTS),
            (fit(events, _EVENTS) if room > 90 else "", dim),
            (fit(_age(files), _AGE), dim),
            (fit(self._label(files), label), dim),
        )

    def _label(self, files: RunFiles) -> str:
        """Return what tells the runs of a directory apart."""
        worker = self._workers.get(files.identity, files.task)
        return f"{worker} {files.label}" if worker else files.label

    def _found(self, files: RunFiles) -> tuple[str, str, str]:
        """Return verdict, alerts and events in words, as far as they are known."""
        if files not in self._reports:
            return self._charset.ellipsis, "", ""
        report = self._reports[files]
        if report is None:
            return "open to see", "", ""
        word = f"alert{'s' * (report.alerts != 1)}" if report.roots else "harmless"
        alerts = f"{compact(report.alerts)} {word}" if report.alerts else ""
        return _verdict(report), alerts, f"{compact(report.events)} events"

    def action_list(self, action: str) -> None:
        """Move in the list, while the line to filter has the keys."""
        getattr(self._options, f"action_{action}")()

    @on(Input.Submitted)
    def _select(self) -> None:
        """Choose what is marked: among what fits all that was typed before."""
        self._options.action_select()

    def on_option_list_option_selected(self, event: Options.OptionSelected) -> None:
        """Give the chosen run: the list may show others by now."""
        self.dismiss(self._runs[int(event.option_id or 0)])

    async def action_close(self) -> None:
        """List all runs again; then stay with the one that is shown; without one, leave."""
        if self._filter.value:
            self._filter.value = ""
        elif self._can_close:
            self.dismiss(None)
        else:
            await self.app.action_quit()


def _verdict(report: Report | None) -> str:
    return verdict_word(report.verdict, report.problems) if report else ""


def _age(files: RunFiles) -> str:
    if not files.started_at:
        return ""
    return duration(max(0.0, time.time() - files.started_at))
