"""The registry of actions: complete, without clashes, and what the README says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui.actions.keys import shown_key
from tfdbg_tui.tui.actions.registry import ACTIONS, GROUPS, footer_actions, key_table
from tfdbg_tui.tui.control.commands import Commands
from tfdbg_tui.tui.panes import PANES

if TYPE_CHECKING:
    from tfdbg_tui.tui.actions.registry import Action
    from tfdbg_tui.tui.panes.base import PaneSpec


def test_no_two_actions_share_a_key_or_an_id() -> None:
    for used in ((a.id for a in ACTIONS), (key for a in ACTIONS for key in a.keys)):
        assert [name for name, count in Counter(used).items() if count > 1] == []


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_has_help_and_something_that_does_it(action: Action) -> None:
    assert action.help
    assert action.label
    assert action.group in GROUPS
    moves = action.rows is not None or action.pages is not None
    does = [action.navigate is not None, moves, hasattr(Commands, f"do_{action.id}")]
    assert does.count(True) == 1


def test_keys_have_the_names_that_users_know() -> None:
    names = [shown_key(k) for k in ("right_square_bracket", "ctrl+d", "alt+left", "G", "pagedown")]
    assert names == ["]", "Ctrl+D", "Alt+←", "G", "PgDn"]


def test_the_key_table_has_every_action() -> None:
    table = key_table().splitlines()
    assert len(table) == len(ACTIONS) + 2
    assert "| `]` | go to the next alert | `next_alert` |" in table


@pytest.mark.parametrize("spec", PANES, ids=lambda spec: spec.name)
def test_every_footer_names_what_the_pane_says_and_ends_with_help_and_quit(spec: PaneSpec) -> None:
    shown = [action.id for action in footer_actions(spec.name)]
    assert shown[-2:] == ["help", "quit"]
    assert set(spec.keys) <= set(shown)
