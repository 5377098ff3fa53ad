"""The terminal app: six panes that show one reactive session.

`run_app` opens it.  Start reading in `session` (what is shown and looked at), `navigation` and
`actions` (what keys do) and `panes` (what draws it); `app` wires them.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfdbg_tui.program import Program

_UNUSABLE = 2
_DIGIT_SECONDS = 0.2  # the keys of a number and its motion come faster, also through SSH


def run_app(
    *logdirs: str,
    run: str | None = None,
    follow: bool = False,
    at: str | None = None,
    fresh: bool = False,
    theme: str | None = None,
    mouse: bool = True,
    ascii_only: bool | None = None,
    until_bad: bool = False,
    bell: bool = False,
    slow: bool | None = None,
    program: Program | None = None,
    pane_sizes: Mapping[str, tuple[int, ...]] | None = None,
) -> int:
    """Open the app on a logdir, or several, and return its exit code.

    Args:
        logdirs: Directories that dump writers wrote, or will write.
        run: Label of the run to open, where the logdir holds several.
        follow: Whether to stay on the newest event while the program runs.
        at: What to go to first: ``trace:88``, ``exec:12``, an op's name, ``file.py:120``.
        fresh: Whether to open on the first root, rather than where the run was left.
        theme: Name of a theme.
        mouse: Whether the app takes the mouse.
        ascii_only: Whether to draw with ASCII; None to ask the locale.
        until_bad: Whether to stop following, and go to the root, when something is bad.
        bell: Whether to ring the terminal's bell when something is bad for the first time.
        slow: Whether to update the screen less often; None for doing so over SSH.
        program: The program that writes the logdir: it is started as soon as nothing is in the
            way of watching it.
        pane_sizes: The usual shares of the three columns and rows that the panes stand in, by
            "columns" and "rows".

    Returns:
        0, or 2 where this terminal cannot show the app, or the user's keys cannot be read, or
        Textual cannot be as its environment variables want it.

    Raises:
        LogdirError: None of `logdirs` is a directory, or holds a run called `run`; with `follow`
            they need not exist yet.
    """
    if not _usable_terminal():
        return _refuse(
            "the app needs an interactive terminal, and a TERM other than dumb; "
            f"run `tfdbg-tui diagnose {' '.join(logdirs)}` or `tfdbg-tui info {logdirs[0]}` instead"
        )
    if not follow:
        _check(logdirs, run)
    from tfdbg_tui.tui.terminal.settings import unusable_setting

    if unusable := unusable_setting(os.environ):
        return _refuse(unusable)
    from tfdbg_tui.logdir.discovery import absolute
    from tfdbg_tui.tui.actions.keymap import KeymapError, read_keymap
    from tfdbg_tui.tui.app import TfdbgApp
    from tfdbg_tui.tui.background.worker import end_workers
    from tfdbg_tui.tui.terminal.garbage import Garbage
    from tfdbg_tui.tui.terminal.text import ASCII, UNICODE
    from tfdbg_tui.tui.terminal.theme import known_themes, theme_for
    from tfdbg_tui.user_files import config_path

    if theme is not None and theme not in known_themes():
        return _refuse(f"no theme is called {theme!r}; there are {', '.join(known_themes())}")
    try:
        keymap = read_keymap(config_path("keys.toml"))
    except KeymapError as error:
        return _refuse(str(error))
    if ascii_only is None:
        ascii_only = not _locale_has_unicode()
    app = TfdbgApp(
        *map(absolute, logdirs),
        run=run,
        at=at,
        fresh=fresh,
        follow=follow,
        until_bad=until_bad,
        bell=bell,
        slow="SSH_CONNECTION" in os.environ if slow is None else slow,
        program=program,
        charset=ASCII if ascii_only else UNICODE,
        keymap=keymap,
        digit_seconds=_DIGIT_SECONDS,
        theme_name=theme_for(os.environ, theme),
        pane_sizes=pane_sizes,
    )
    if program is not None:
        program.start()
    Garbage.leave_to_pauses()
    try:
        app.run(mouse=mouse)
    finally:
        end_workers()
    if app.defect is not None:
        raise app.defect
    return app.return_code or 0


def _refuse(reason: str) -> int:
    """Say why the app cannot be opened; return the exit code that tells so."""
    from tfdbg_tui.logdir.text import printable

    print(f"tfdbg-tui: {printable(reason)}", file=sys.stderr)
    return _UNUSABLE


def _usable_terminal() -> bool:
    interactive = all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))
    return interactive and os.environ.get("TERM", "dumb") not in ("dumb", "")


def _locale_has_unicode() -> bool:
    """Whether the locale is one of UTF-8, or says nothing (Python itself assumes UTF-8 then)."""
    settings = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    chosen = next((setting for setting in settings if setting), "utf-8")
    return "utf" in chosen.lower()


def _check(logdirs: Sequence[str], run: str | None) -> None:
    """Refuse what will never become readable; a directory still without files may."""
    from tfdbg_tui.logdir import EmptyLogdirError, LogdirError
    from tfdbg_tui.logdir.several import common_path, list_runs_of

    runs, unlisted = list_runs_of(logdirs)
    errors = [error for _, error in unlisted]
    if not runs and not any(isinstance(error, EmptyLogdirError) for error in errors):
        raise LogdirError("; ".join(map(str, errors)))
    if runs and run is not None and run not in [files.label for files in runs]:
        known = ", ".join(files.label for files in runs)
        raise LogdirError(f"{common_path(logdirs)}: no run {run!r}; it holds {known}")
