"""A pane is one file and its place in `PANES`: nothing else has to know of it."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_tui.tui import panes
from tfdbg_tui.tui.panes import PANES, pane_named, present_panes
from tfdbg_tui.tui.panes.rows import Rows
from tfdbg_tui.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs

_PROGRAM = Path(__file__).with_name("made_up_pane.py")


def test_panes_name_only_panes_that_there_are() -> None:
    for spec in PANES:
        assert all(map(pane_named, spec.companions))
    assert len({spec.name for spec in PANES}) == len(PANES)
    assert not PANES[0].answers_why, "it has the keys at first"


def test_every_pane_that_is_written_is_listed() -> None:
    names = [module.name for module in pkgutil.iter_modules(panes.__path__, "tfdbg_tui.tui.panes.")]
    specs = [getattr(importlib.import_module(name), "SPEC", None) for name in names]
    assert {spec.name for spec in specs if spec} == {spec.name for spec in PANES}


def test_each_pane_says_what_its_rows_look_like_what_is_searched_copied_and_shown_instead() -> None:
    """The defaults would leave a row as it was drawn first, find nothing, and copy a tensor."""
    for spec in PANES:
        assert spec.view.row_state is not VirtualList.row_state, spec.name
        assert getattr(spec.view, "EMPTY", ""), spec.name
        searched = {"texts", "matches"} & {
            name for kind in type(spec.rows).__mro__ if kind is not Rows for name in vars(kind)
        }
        assert searched, spec.name
        assert spec.rows.LISTS_EVENTS or type(spec.rows).text is not Rows.text, spec.name


def test_a_made_up_pane_works_like_the_others(logdirs: RecordedLogdirs) -> None:
    """In a process of its own: actions and key bindings are made of `PANES` on import."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(_PROGRAM), str(logdirs["mnist"])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_not_every_run_has_takes_no_room_while_a_run_is_opened() -> None:
    assert "workers" not in {spec.name for spec in present_panes(None)}
    assert len(present_panes(None)) >= 6
