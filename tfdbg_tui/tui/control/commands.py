"""What only the app can do, rather than navigation: one method for each such action."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import bad_elements_text, name_of
from tfdbg_tui.program import log_path
from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.control.program_recording import CannotAskError, ProgramRecording
from tfdbg_tui.tui.terminal import clipboard, editor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.diagnosis import TensorEvent
    from tfdbg_tui.program import Program
    from tfdbg_tui.tui.control.navigator import Navigator
    from tfdbg_tui.tui.control.parts import Parts
    from tfdbg_tui.tui.control.runs import Runs
    from tfdbg_tui.tui.screens.grid import Axis
    from tfdbg_tui.tui.screens.layers import Choice
    from tfdbg_tui.tui.screens.leaving import Answer
    from tfdbg_tui.tui.widgets.candidates import Candidate
    from tfdbg_tui.tui.widgets.prompt import Purpose

_WIDER = 2  # cells that a key makes a pane wider by
_COLUMNS = 8  # that left and right scroll the source text


class Commands:
    """Does what the actions without a function of navigation ask for: ``do_ID`` for each.

    Args:
        parts: The app.
        navigator: Moves the focus.
        runs: Opens runs.
    """

    def __init__(self, parts: Parts, navigator: Navigator, runs: Runs) -> None:
        self._parts = parts
        self._app = parts.app
        self._session = parts.session
        self._charset = parts.charset
        self._navigator = navigator
        self._runs = runs

    def do_left(self, times: int) -> None:
        """Go left: what that means depends on the pane."""
        self._sideways(-times)

    def do_right(self, times: int) -> None:
        """Go right."""
        self._sideways(times)

    def _sideways(self, step: int) -> None:
        pane = self._session.focus.pane
        self._navigator.go(partial(navigation.step_sideways, step=step), jump=False)
        self._parts.main.panes[pane].scroll_columns(step * _COLUMNS)

    def do_back(self) -> None:
        """Return to the focus before the last jump."""
        if not self._session.back():
            self._parts.say("nothing to go back to")

    def do_forward(self) -> None:
        """Undo going back."""
        if not self._session.forward():
            self._parts.say("nothing to go forward to")

    def do_zoom(self) -> None:
        """Give the focused pane the whole screen, or take it back."""
        self._parts.main.toggle_zoom()

    def do_wider(self, times: int) -> None:
        """Make the focused pane wider."""
        self._resize("columns", times * _WIDER)

    def do_narrower(self, times: int) -> None:
        """Make the focused pane narrower."""
        self._resize("columns", -times * _WIDER)

    def do_higher(self, times: int) -> None:
        """Make the focused pane higher."""
        self._resize("rows", times)

    def do_lower(self, times: int) -> None:
        """Make the focused pane lower."""
        self._resize("rows", -times)

    def _resize(self, axis: Axis, by: int) -> None:
        if not self._parts.main.resize(axis, by):
            self._parts.say("here the pane has the size that fits: z gives it the whole screen")

    def do_usual_sizes(self) -> None:
        """Give the panes their usual sizes."""
        self._parts.main.forget_sizes()

    def do_search(self) -> None:
        """Ask what to search for."""
        self._parts.search.begin_typing()
        self._ask("search")

    def correct_search(self) -> None:
        """Ask again what to search for, where that has not been asked yet."""
        self._ask("search", self._parts.search.text)

    def do_filter(self) -> None:
        """Ask what to list."""
        self._ask("filter", self._navigator.begin_filter())

    def do_sort(self) -> None:
        """Ask by what to sort."""
        if self._session.snapshot is not None:
            navigation.columns_to_sort_by(self._session.snapshot, self._session.focus)
            self._ask("sort")

    def do_goto(self) -> None:
        """Ask where to go."""
        self._ask("goto")

    def do_mark(self) -> None:
        """Ask for a letter and a note."""
        if self._session.snapshot is not None:
            navigation.place_of(self._session.snapshot, self._session.focus)
            self._ask("mark")

    def do_to_mark(self) -> None:
        """Ask which mark to go to."""
        self._ask("to_mark")

    def _ask(self, purpose: Purpose, text: str = "") -> None:
        from tfdbg_tui.tui.widgets.candidates import Candidates
        from tfdbg_tui.tui.widgets.prompt import ASKED, Prompt

        if not self._app.query("Prompt"):
            candidates = Candidates(self._charset)
            known = self._navigator.answers[purpose]
            prompt = Prompt(purpose, text, known, partial(self._suggest, purpose), candidates)
            self._parts.main.mount(candidates, prompt)
            self._parts.main.keys.ask(ASKED[purpose])
            self._parts.main.set_focus(prompt)  # at once: what is typed behind the key is for it

    def _suggest(self, purpose: Purpose, text: str) -> Sequence[Candidate]:
        """Return what a text that is being typed may become."""
        snapshot, focus = self._session.snapshot, self._session.focus
        if snapshot is None:
            return ()
        match purpose:
            case "goto":
                return navigation.destinations(snapshot, text)
            case "sort":
                return navigation.columns(snapshot, focus, text)
            case "filter":
                return navigation.filters(snapshot, focus, text)
            case "mark" | "to_mark":
                return self._navigator.marks.candidates(text)
        return ()

    def do_search_next(self) -> None:
        """Go to the next match."""
        self._parts.search.go_on(1)

    def do_search_previous(self) -> None:
        """Go to the previous match."""
        self._parts.search.go_on(-1)

    def do_copy(self) -> None:
        """Copy what is focused."""
        snapshot = self._session.snapshot
        text = navigation.copy_text(snapshot, self._session.focus) if snapshot else ""
        if text:
            where = clipboard.copy(self._app, self._charset.safe(text))
            self._parts.say(f"copied{where}: {text}")
        else:
            self._parts.say("there is nothing to copy here")

    def do_copy_link(self) -> None:
        """Copy the command that opens the app on the focused place."""
        snapshot = self._session.snapshot
        if snapshot is not None:
            text = navigation.link_to(snapshot, self._session.focus)
            self._parts.say(f"copied{clipboard.copy(self._app, text)}: {text}")

    def do_copy_diagnosis(self) -> None:
        """Copy what made the focused tensor bad, and the fix."""
        snapshot = self._session.snapshot
        if snapshot is not None:
            text = navigation.diagnosis_text(snapshot, self._session.focus)
            lines = [self._charset.sentence(line) for line in text.split("\n")]
            where = clipboard.copy(self._app, "\n".join(lines))
            self._parts.say(f"copied the diagnosis, {len(lines)} lines{where}")

    def do_edit(self) -> None:
        """Open the focused line in the user's editor: the file of that path on this machine."""
        place = self._session.focus.place
        if place is None:
            self._parts.say("no line is focused")
            return
        try:
            file = editor.existing_file(place.path)
            command = editor.command(os.environ, file, place.line)
        except editor.EditorError as error:
            self._parts.say(str(error))
            return
        if editor.is_users(file, self._parts.logdirs):
            self._edit(command)
        else:
            self._ask_to_edit(file, command)

    def _ask_to_edit(self, file: str, command: list[str]) -> None:
        from tfdbg_tui.tui.screens.opening import OpeningScreen

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._edit(command)

        self._app.push_screen(OpeningScreen(file, self._charset), answered)

    def _edit(self, command: list[str]) -> None:
        with self._app.suspend():
            failure = editor.run(command)
        if failure:
            self._parts.say(failure)
        self._app.redraw()

    def do_follow(self) -> None:
        """Stay on the newest event, or stop."""
        session = self._session
        session.follow(not session.following or session.paused)
        if session.following:
            self._navigator.go(navigation.latest, jump=True)

    def do_pause(self) -> None:
        """Stop showing what is new, or go on."""
        self._session.set_paused(not self._session.paused)

    def do_recording(self) -> None:
        """Let the program record no more, or again."""
        self._ask_program(ProgramRecording.switch)

    def do_record_values(self) -> None:
        """Let the program record the elements of the focused tensor, or no longer."""
        self._ask_program(ProgramRecording.switch_values)

    def _ask_program(self, ask: Callable[[ProgramRecording], str]) -> None:
        try:
            self._parts.say(ask(ProgramRecording(self._session)))
        except CannotAskError as error:
            self._parts.say(str(error))

    def do_palette(self) -> None:
        """Offer all actions, to be found by typing."""
        self._app.action_command_palette()

    def do_help(self) -> None:
        """Show all keys."""
        from tfdbg_tui.tui.screens.help import HelpScreen

        self._app.push_screen(HelpScreen(self._parts.keymap, self._charset))

    def do_values(self) -> None:
        """Show the focused tensor itself."""
        from tfdbg_tui.tui.screens.values import ValuesScreen

        snapshot = self._session.snapshot
        event = navigation.chosen_tensor(snapshot, self._session.focus) if snapshot else None
        tensor = snapshot.tensor(event) if snapshot and event else None
        if snapshot is None or event is None:
            self._parts.say("no tensor is focused")
        elif tensor is None:
            places = bad_elements_text(snapshot.summary(event))
            known = f"; bad elements: {places}" if places else ""
            self._parts.say(ProgramRecording(self._session).about_missing_values(event) + known)
        else:
            name = name_of(snapshot.run, event)
            self._app.push_screen(ValuesScreen(name, tensor, self._charset))

    def do_history(self) -> None:
        """Show all computations of the focused tensor, or of those of the focused line."""
        from tfdbg_tui.tui.screens.history import HistoryScreen

        if self._session.snapshot is not None:
            self._app.push_screen(HistoryScreen(self._session, self._charset), self._go_to)

    def do_layers(self) -> None:
        """Show how large the numbers of each layer were."""
        from tfdbg_tui.tui.screens.layers import LayersScreen

        if self._session.snapshot is not None:
            self._app.push_screen(LayersScreen(self._session, self._charset), self._leave_layers)

    def _leave_layers(self, choice: Choice | None) -> None:
        if choice is not None:
            self._go_to(choice.event)
            if choice.history:
                self.do_history()

    def _go_to(self, event: TensorEvent | None) -> None:
        if event is not None:
            self._navigator.drop_target()
            self._navigator.go(partial(navigation.go_to_tensor, event=event), jump=True)

    def do_notes(self) -> None:
        """Show what is wrong with the dump."""
        from tfdbg_tui.tui.screens.notes import NotesScreen

        snapshot = self._session.snapshot
        if snapshot is not None and snapshot.notes:
            self._app.push_screen(NotesScreen(snapshot.notes, self._charset))
        else:
            self._parts.say("nothing is wrong with this dump, as far as can be told")

    def do_output(self) -> None:
        """Show what the program has printed."""
        from tfdbg_tui.tui.screens.output import OutputScreen

        program, snapshot = self._session.recording.program, self._session.snapshot
        if program is not None:
            path: str | None = program.log_path
        elif snapshot is not None:
            path = log_path(snapshot.run.files.directory, snapshot.run.files.run_id)
        else:
            path = None
        if path is None:
            self._parts.say("only of a program that tfdbg-tui run has started is the output kept")
        else:
            self._app.push_screen(OutputScreen(path, program, self._charset))

    def do_runs(self) -> None:
        """Let the user choose another run."""
        self._runs.choose_any()

    def do_redraw(self) -> None:
        """Draw the whole screen anew."""
        self._app.redraw()

    def do_suspend(self) -> None:
        """Return to the shell, if one waits that can bring the app back."""
        is_job = os.getpgrp() == os.getpid() and os.getsid(os.getppid()) == os.getsid(0)
        if is_job:
            self._app.action_suspend_process()
        else:
            self._parts.say("no shell with job control has started this")

    def do_quit(self) -> None:
        """Leave; ask first what to do with a program that runs."""
        from tfdbg_tui.tui.screens.leaving import LeavingScreen

        program = self._session.recording.program
        if program is None or not program.running:
            self._app.exit(0)
        elif not isinstance(self._app.screen, LeavingScreen):
            self._app.push_screen(LeavingScreen(program, self._charset), self._leave)

    def _leave(self, answer: Answer | None) -> None:
        """Quit, with or without the program."""
        program = self._session.recording.program
        if answer == "stop" and program is not None:
            self._parts.say("stopping the program")
            self._app.run_worker(partial(self._stop_and_exit, program), thread=True)
        elif answer == "leave":
            self._app.exit(0)

    def _stop_and_exit(self, program: Program) -> None:
        program.stop()
        self._app.call_from_thread(self._app.exit, 0)
