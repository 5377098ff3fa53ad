"""What keys and clicks do: functions from a snapshot and a focus to the next focus.

`moving` within lists and between panes, `drilling` deeper, `links` along the numbers, `repeats` of
the same op, `training_steps`, `history` of a tensor, `alerts`, `asking_why`, `finding` by name or
text with `candidates` as one types, `places` to come back to, `filtering` and `sorting` lists and
which row is chosen then (`relisting`), `showing` more or less, `copying`, `settling` when a run
opens, and what of all that is `unseen`.  All act on what is `chosen`.  What differs from pane to
pane is a method of its `Rows`.
"""

from __future__ import annotations

from tfdbg_tui.tui.navigation.alerts import first_alert, step_alert
from tfdbg_tui.tui.navigation.asking_why import close_why, stand_on_root, why
from tfdbg_tui.tui.navigation.candidates import columns, destinations, filters
from tfdbg_tui.tui.navigation.chosen import chosen_tensor
from tfdbg_tui.tui.navigation.copying import copy_text, diagnosis_text
from tfdbg_tui.tui.navigation.drilling import click, click_title, enter, step_sideways
from tfdbg_tui.tui.navigation.filtering import (
    close,
    next_kind,
    pane_to_filter,
    set_filter,
    tensors_of_function,
    tensors_of_line,
    tensors_of_type,
    toggle_bad_only,
)
from tfdbg_tui.tui.navigation.finding import goto, search
from tfdbg_tui.tui.navigation.history import go_to_tensor, tensors_together
from tfdbg_tui.tui.navigation.links import to_consumer, to_producer
from tfdbg_tui.tui.navigation.moving import (
    cycle_pane,
    last_row,
    latest,
    looks_elsewhere,
    move,
    move_to,
    repeat,
    show_pane,
    step_frame,
    to_number,
    to_percent,
)
from tfdbg_tui.tui.navigation.places import link_to, place_of, restored, view_of
from tfdbg_tui.tui.navigation.relisting import choose_listed
from tfdbg_tui.tui.navigation.repeats import step_computation
from tfdbg_tui.tui.navigation.settling import first_focus, open_on_root, settle
from tfdbg_tui.tui.navigation.showing import (
    toggle_bad_branches,
    toggle_in_time,
    toggle_library_frames,
)
from tfdbg_tui.tui.navigation.sorting import columns_to_sort_by, reverse, sort_by
from tfdbg_tui.tui.navigation.training_steps import step_training
from tfdbg_tui.tui.navigation.unseen import unseen_change
from tfdbg_tui.tui.session.nowhere import NowhereError

__all__ = [
    "NowhereError",
    "choose_listed",
    "chosen_tensor",
    "click",
    "click_title",
    "close",
    "close_why",
    "columns",
    "columns_to_sort_by",
    "copy_text",
    "cycle_pane",
    "destinations",
    "diagnosis_text",
    "enter",
    "filters",
    "first_alert",
    "first_focus",
    "go_to_tensor",
    "goto",
    "last_row",
    "latest",
    "link_to",
    "looks_elsewhere",
    "move",
    "move_to",
    "next_kind",
    "open_on_root",
    "pane_to_filter",
    "place_of",
    "repeat",
    "restored",
    "reverse",
    "search",
    "set_filter",
    "settle",
    "show_pane",
    "sort_by",
    "stand_on_root",
    "step_alert",
    "step_computation",
    "step_frame",
    "step_sideways",
    "step_training",
    "tensors_of_function",
    "tensors_of_line",
    "tensors_of_type",
    "tensors_together",
    "to_consumer",
    "to_number",
    "to_percent",
    "to_producer",
    "toggle_bad_branches",
    "toggle_bad_only",
    "toggle_in_time",
    "toggle_library_frames",
    "unseen_change",
    "view_of",
    "why",
]
