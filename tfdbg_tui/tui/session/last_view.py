"""Where the user left a run, and how its lists stood: kept for when it is opened again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tfdbg_tui.tui.session.focus import Sort
from tfdbg_tui.tui.session.run_key import key_of_run
from tfdbg_tui.user_files import state_path, write_whole

if TYPE_CHECKING:
    from tfdbg_tui.logdir import RunFiles

_RUNS = 200  # remembered


@dataclass(frozen=True, slots=True)
class LastView:
    """What was shown of a run.

    Attributes:
        pane: The pane that had the keys.
        places: What was focused, as typed after ``:``: the tensor, and what the pane showed.
        filters: The filter of each pane that had one.
        sorts: By what the list of each pane that was sorted was.
        in_time: Whether Alerts listed each alert in order of time.
    """

    pane: str
    places: tuple[str, ...]
    filters: tuple[tuple[str, str], ...] = ()
    sorts: tuple[tuple[str, Sort], ...] = ()
    in_time: bool = False


def read_last_view(files: RunFiles) -> LastView | None:
    """Return what was shown of a run last; None where nothing of it is known, or readable."""
    try:
        return _view(_known_views()[key_of_run(files)])
    except (KeyError, TypeError, ValueError):
        return None


def keep_last_view(files: RunFiles, view: LastView) -> None:
    """Remember what is shown of a run, and of some runs before it.

    Raises:
        OSError: It cannot be written.
    """
    key, views = key_of_run(files), _known_views()
    others = [item for item in views.items() if item[0] != key]
    text = json.dumps(dict([*others[1 - _RUNS :], (key, asdict(view))]), ensure_ascii=False)
    write_whole(_path(), text)


def _known_views() -> dict[str, Any]:
    """Return the views that are known, by run, the newest last."""
    try:
        with open(_path(), encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, TypeError, ValueError):
        return {}  # none yet, or none that could be read: to open on the root is no loss


def _path() -> str:
    return state_path("last_views.json")


def _view(kept: dict[str, Any]) -> LastView:
    return LastView(
        pane=kept["pane"],
        places=tuple(kept["places"]),
        filters=tuple((pane, text) for pane, text in kept["filters"]),
        sorts=tuple((pane, Sort(**sort)) for pane, sort in kept["sorts"]),
        in_time=kept["in_time"],
    )
