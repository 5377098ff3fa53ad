"""Every action of the app, once: keys, footer, help, palette and the README's table come from here.

An action either goes somewhere, which is a pure function in `navigation`, or is something that
only the app can do (zoom, search, quit); the app has a method ``do_ID`` for each of those.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from tfdbg_tui.tui import navigation
from tfdbg_tui.tui.actions.keys import shown_key
from tfdbg_tui.tui.panes import PANES, key_of, numbered_panes, pane_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

    Navigate = Callable[[Snapshot, Focus], Focus]
    """A function of `navigation`: from what is shown and focused to what is focused next."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something the user can do.

    Attributes:
        id: Name in keymaps.
        keys: Keys that do it, as Textual names them; the first one is shown.
        label: What the footer says.
        help: What the help screen says.
        group: Its heading in the help screen.
        navigate: Where it goes; None for what the app does itself.
        rows: How many rows it moves; None for other actions.
        pages: How many pages it moves; None for other actions.
        jump: Whether `back` returns from it.
        numbered: What a number typed before it says: the row that it goes to, how much of the list
            is before that, or how often it is done; "" for none of these.
        in_every_footer: Whether the footer of each pane names it; panes add others to theirs.
        of_alerts: Whether it does nothing in a run without alerts, whose footer leaves it out.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: str
    navigate: Navigate | None = None
    rows: int | None = None
    pages: float | None = None
    jump: bool = True
    numbered: Literal["", "row", "percent", "times"] = ""
    in_every_footer: bool = False
    of_alerts: bool = False

    @property
    def takes_number(self) -> bool:
        """Whether a number may be typed before it."""
        return bool(self.numbered) or self.rows is not None or self.pages is not None


GROUPS = ("Moving", "Following numbers", "Showing", "Finding", "The app", "While the program runs")
"""Headings in the help screen, in their order there."""

_MOVE, _FOLLOW, _SHOW, _FIND, _APP, _LIVE = GROUPS


def _panes() -> tuple[Action, ...]:
    return tuple(
        Action(
            f"pane_{spec.name}",
            (key_of(spec), f"alt+{key_of(spec)}") if key_of(spec) else (),
            spec.title,
            f"go to {spec.title}",
            _MOVE,
            _to_pane(spec.name),
            jump=False,
        )
        for spec in numbered_panes()
    )


def _to_pane(pane: str) -> Navigate:
    return lambda snapshot, focus: navigation.show_pane(snapshot, focus, pane)


ACTIONS: tuple[Action, ...] = (
    *_panes(),
    Action(
        "next_pane",
        ("tab",),
        "pane",
        "go to the next pane",
        _MOVE,
        lambda snapshot, focus: navigation.cycle_pane(snapshot, focus, 1),
        jump=False,
    ),
    Action(
        "previous_pane",
        ("shift+tab",),
        "pane",
        "go to the previous pane",
        _MOVE,
        lambda snapshot, focus: navigation.cycle_pane(snapshot, focus, -1),
        jump=False,
    ),
    Action(
        "down",
        ("j", "down"),
        "down",
        "next row; `5j`: five rows down",
        _MOVE,
        rows=1,
        jump=False,
    ),
    Action("up", ("k", "up"), "up", "previous row", _MOVE, rows=-1, jump=False),
    Action(
        "right",
        ("l", "right"),
        "right",
        "next execution; unfold; scroll source text",
        _MOVE,
        jump=False,
        numbered="times",
    ),
    Action(
        "left",
        ("h", "left"),
        "left",
        "previous execution; fold; scroll source text",
        _MOVE,
        jump=False,
        numbered="times",
    ),
    Action(
        "page_down",
        ("pagedown", "space", "ctrl+f"),
        "page down",
        "next page",
        _MOVE,
        pages=1,
        jump=False,
    ),
    Action(
        "page_up", ("pageup", "ctrl+b"), "page up", "previous page", _MOVE, pages=-1, jump=False
    ),
    Action(
        "half_page_down", ("ctrl+d",), "half page", "half a page down", _MOVE, pages=0.5, jump=False
    ),
    Action(
        "half_page_up", ("ctrl+u",), "half page", "half a page up", _MOVE, pages=-0.5, jump=False
    ),
    Action(
        "first_row",
        ("g", "home"),
        "first",
        "first row, or the one whose number is typed before",
        _MOVE,
        lambda snapshot, focus: navigation.move_to(snapshot, focus, 0),
        numbered="row",
    ),
    Action(
        "last_row",
        ("G", "end"),
        "last",
        "last row, or the one whose number is typed before: `10G`",
        _MOVE,
        navigation.last_row,
        numbered="row",
    ),
    Action(
        "percent",
        ("percent_sign",),
        "percent",
        "`50%`: the row in the middle, `90%`: near the end",
        _MOVE,
        lambda snapshot, focus: navigation.move_to(snapshot, focus, 0),
        numbered="percent",
    ),
    Action(
        "enter",
        ("enter",),
        "drill in",
        "go one level deeper: alert, tensor, op, stack frame, source line",
        _FOLLOW,
        navigation.enter,
        in_every_footer=True,
    ),
    Action(
        "back",
        ("backspace", "alt+left", "minus", "ctrl+o"),
        "back",
        "return to where you were",
        _MOVE,
        in_every_footer=True,
    ),
    Action("forward", ("alt+right",), "forward", "undo going back", _MOVE),
    Action(
        "first_alert",
        ("a",),
        "first root",
        "go to the first root, the tensor that was bad first; without any, to the first suspect",
        _FOLLOW,
        navigation.first_alert,
        of_alerts=True,
    ),
    Action(
        "why",
        ("w",),
        "why",
        "show the chain of the tensor from its root, and the cause: what, why, and the fix",
        _FOLLOW,
        navigation.why,
    ),
    Action(
        "close_why",
        ("escape",),
        "close",
        "end the search, the order or the filter of the pane; close Why again",
        _FOLLOW,
        navigation.close,
        jump=False,
    ),
    Action(
        "in_time",
        ("r",),
        "roots/in time",
        "list the alerts by root, or each one in order of time",
        _SHOW,
        navigation.toggle_in_time,
        jump=False,
        of_alerts=True,
    ),
    Action(
        "next_alert",
        ("right_square_bracket",),
        "next alert",
        "go to the next alert",
        _FOLLOW,
        partial(navigation.step_alert, step=1),
        numbered="times",
        of_alerts=True,
    ),
    Action(
        "previous_alert",
        ("left_square_bracket",),
        "previous alert",
        "go to the previous alert",
        _FOLLOW,
        partial(navigation.step_alert, step=-1),
        numbered="times",
        of_alerts=True,
    ),
    Action(
        "producer",
        ("o",),
        "inputs",
        "go to what the tensor was computed from: a bad input first, else the first",
        _FOLLOW,
        navigation.to_producer,
        numbered="times",
    ),
    Action(
        "consumer",
        ("i",),
        "consumers",
        "go to what was computed from the tensor",
        _FOLLOW,
        navigation.to_consumer,
        numbered="times",
    ),
    Action(
        "next_computation",
        ("right_curly_bracket",),
        "same op later",
        "go to the next computation of the same tensor, as in the next step of a training",
        _FOLLOW,
        partial(navigation.step_computation, step=1),
        numbered="times",
    ),
    Action(
        "previous_computation",
        ("left_curly_bracket",),
        "same op earlier",
        "go to the previous computation of the same tensor",
        _FOLLOW,
        partial(navigation.step_computation, step=-1),
        numbered="times",
    ),
    Action(
        "next_step",
        ("right_parenthesis",),
        "next step",
        "go to the next training step: its first execution and the first tensor of its graphs",
        _FOLLOW,
        partial(navigation.step_training, direction=1),
        numbered="times",
    ),
    Action(
        "previous_step",
        ("left_parenthesis",),
        "previous step",
        "go to the previous training step",
        _FOLLOW,
        partial(navigation.step_training, direction=-1),
        numbered="times",
    ),
    Action(
        "frame_up",
        ("u",),
        "caller",
        "go up the stack, to the calling frame",
        _FOLLOW,
        partial(navigation.step_frame, step=-1),
        numbered="times",
    ),
    Action(
        "frame_down",
        ("d",),
        "callee",
        "go down the stack, to the called frame",
        _FOLLOW,
        partial(navigation.step_frame, step=1),
        numbered="times",
    ),
    Action(
        "library_frames",
        ("H", "t"),
        "library frames",
        "unfold or fold the frames of libraries in Stack Trace",
        _SHOW,
        lambda _, focus: navigation.toggle_library_frames(focus),
        jump=False,
    ),
    Action(
        "bad_only",
        ("f",),
        "only NaN/∞",
        "list only what holds NaN or ∞, or all again: the filter `bad`",
        _SHOW,
        navigation.toggle_bad_only,
        jump=False,
        of_alerts=True,
    ),
    Action(
        "bad_kind",
        ("K",),
        "only NaN",
        "list only what holds NaN; then only −∞, only +∞, and all again",
        _SHOW,
        lambda _, focus: navigation.next_kind(focus),
        jump=False,
        of_alerts=True,
    ),
    Action(
        "filter",
        ("backslash", "ampersand"),
        "filter",
        "list only what fits, as in `type=Relu !bad step=6..9 zero>90%`; Esc lists all again",
        _SHOW,
        jump=False,
    ),
    Action(
        "tensors_of_line",
        ("L",),
        "tensors of line",
        "list all tensors that the focused source line computes",
        _SHOW,
        navigation.tensors_of_line,
    ),
    Action(
        "tensors_of_type",
        ("T",),
        "tensors of type",
        "list all tensors that ops of the focused one's type compute",
        _SHOW,
        navigation.tensors_of_type,
    ),
    Action(
        "tensors_of_function",
        ("D",),
        "tensors of function",
        "list all tensors computed in the function of the focused one",
        _SHOW,
        navigation.tensors_of_function,
    ),
    Action(
        "sort",
        ("s",),
        "sort",
        "sort the list by a column, as in `zero` or `na`; Esc goes back to its own order",
        _SHOW,
        jump=False,
    ),
    Action(
        "reverse",
        ("S",),
        "reverse",
        "turn the order of a sorted list round",
        _SHOW,
        navigation.reverse,
        jump=False,
    ),
    Action(
        "bad_branches",
        ("b",),
        "only what leads to NaN/∞",
        "leave out of Graph Structure what does not lead to NaN and ∞, or show all again",
        _SHOW,
        navigation.toggle_bad_branches,
        jump=False,
        of_alerts=True,
    ),
    Action(
        "search",
        ("slash",),
        "search",
        "search names, types, functions and dtypes of the pane, and, where none has it, lines: a "
        "text, or a regular expression; capital letters count only if you type any; Esc ends it",
        _FIND,
        in_every_footer=True,
    ),
    Action("search_next", ("n",), "next match", "next match", _FIND),
    Action("search_previous", ("N",), "previous match", "previous match", _FIND),
    Action(
        "goto",
        ("colon",),
        "go to",
        "go to an index, trace:88, exec:12, alert:3, step:6, epoch:4, fn:loss, device:GPU:0, "
        "an op's name, file.py, or file.py:120; Tab completes",
        _FIND,
        in_every_footer=True,
    ),
    Action(
        "mark",
        ("m",),
        "mark",
        "mark the focused place with a letter, and a note; kept for the next time",
        _FIND,
        jump=False,
    ),
    Action(
        "to_mark",
        ("apostrophe",),
        "to mark",
        "go to a marked place: lists the marks, and goes as soon as you type a letter",
        _FIND,
    ),
    Action(
        "values",
        ("v",),
        "values",
        "show the focused tensor itself, where the dump holds it (FULL_TENSOR)",
        _SHOW,
    ),
    Action(
        "history",
        ("V",),
        "history",
        "show all computations of the focused tensor or source line, as a curve and a table",
        _SHOW,
    ),
    Action(
        "layers",
        ("M",),
        "layers",
        "show how large the numbers of each layer of the model were in each step, and where NaN",
        _SHOW,
    ),
    Action(
        "notes",
        ("exclamation_mark",),
        "notes",
        "show what is wrong with the dump, and what it cannot tell",
        _SHOW,
    ),
    Action("zoom", ("z",), "zoom", "give the pane the whole screen, or take it back", _SHOW),
    Action(
        "wider",
        ("greater_than_sign",),
        "wider",
        "make the pane wider; the sizes are kept, and the mouse drags the borders too",
        _SHOW,
        numbered="times",
    ),
    Action(
        "narrower",
        ("less_than_sign",),
        "narrower",
        "make the pane narrower",
        _SHOW,
        numbered="times",
    ),
    Action("higher", ("plus",), "higher", "make the pane higher", _SHOW, numbered="times"),
    Action("lower", ("underscore",), "lower", "make the pane lower", _SHOW, numbered="times"),
    Action("usual_sizes", ("equals_sign",), "usual sizes", "give panes their usual sizes", _SHOW),
    Action(
        "copy",
        ("c",),
        "copy",
        "copy the focused name or file:line, or in Why the fix, to the clipboard (OSC 52, tmux)",
        _APP,
    ),
    Action(
        "copy_link",
        ("y",),
        "copy link",
        "copy the command that opens the app on the focused place: `tfdbg-tui LOGDIR --at …`",
        _APP,
    ),
    Action(
        "copy_diagnosis",
        ("Y",),
        "copy all",
        "copy the diagnosis of the focused tensor as text: cause, place, fix, chain",
        _APP,
    ),
    Action(
        "edit",
        ("e",),
        "edit",
        "open the focused line in $EDITOR, else vi: the file on this machine",
        _APP,
    ),
    Action("follow", ("F",), "follow", "stay on the newest event while the program runs", _LIVE),
    Action("pause", ("p",), "pause", "stop showing what is new, or go on; it is kept", _LIVE),
    Action(
        "recording",
        ("P",),
        "record",
        "let the program record no more, or again: it looks four times a second what you want",
        _LIVE,
    ),
    Action(
        "record_values",
        ("X",),
        "record values",
        "let the program record the elements of the focused tensor from now on, or no longer",
        _LIVE,
    ),
    Action("output", ("O",), "output", "show what the program under `run` has printed", _LIVE),
    Action("runs", ("R",), "runs", "choose among the runs of the logdir", _LIVE),
    Action(
        "palette",
        ("ctrl+p",),
        "actions",
        "find an action, a pane or a theme by typing a part of its name",
        _APP,
        in_every_footer=True,
    ),
    Action(
        "help",
        ("question_mark", "f1"),
        "help",
        "show all keys, and what signs and words mean",
        _APP,
        in_every_footer=True,
    ),
    Action("redraw", ("ctrl+l",), "redraw", "draw the whole screen anew", _APP),
    Action("suspend", ("ctrl+z",), "suspend", "return to the shell; fg comes back", _APP),
    Action("quit", ("q", "ctrl+c"), "quit", "leave the debugger", _APP, in_every_footer=True),
)

BY_ID = {action.id: action for action in ACTIONS}

_ANSWERS = ("first_alert", "why")


def footer_actions(pane: str) -> list[Action]:
    """Return the actions that the footer shows for a pane.

    Those that answer the question come first, then the most specific to the pane.
    """
    keys = pane_named(pane).keys
    shown = [action for action in ACTIONS if action.in_every_footer or action.id in keys]

    def rank(action: Action) -> tuple[bool, bool, int]:
        panes = 0 if action.in_every_footer else sum(action.id in spec.keys for spec in PANES)
        return action.id not in _ANSWERS, action.in_every_footer, panes

    return sorted(shown, key=rank)


def key_table() -> str:
    """Return all actions as a Markdown table, as the app's README has it."""
    lines = ["| Key | What it does | Name in `~/.config/tfdbg-tui/keys.toml` |", "|---|---|---|"]
    for action in ACTIONS:
        keys = " ".join(f"`{shown_key(key)}`" for key in action.keys)
        lines.append(f"| {keys} | {action.help} | `{action.id}` |")
    return "\n".join(lines)
