"""The user's own keys: a file with a line for each action that shall have other ones.

``~/.config/tfdbg-tui/keys.toml`` (or below ``$XDG_CONFIG_HOME``)::

    next_alert = "n"
    search_next = ["ctrl+n", "f3"]
"""

from __future__ import annotations

import difflib
import tomllib
from typing import TYPE_CHECKING

from tfdbg_tui.tui.actions.keys import bound_keys, textual_key
from tfdbg_tui.tui.actions.registry import BY_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfdbg_tui.tui.actions.registry import Action


class KeymapError(ValueError):
    """The file cannot be used; the message says why and what to do."""


class Keymap:
    """Which keys do which action.

    Args:
        changes: The keys of the actions that have others than their own, by action.
    """

    def __init__(self, changes: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._changes = dict(changes or {})
        self._taken = {key for keys in self._changes.values() for key in keys}

    def keys(self, action: Action) -> tuple[str, ...]:
        """Return the keys of an action as Textual names them; none where others took them."""
        if action.id in self._changes:
            return self._changes[action.id]
        return tuple(key for key in action.keys if key not in self._taken)

    def for_textual(self) -> dict[str, str]:
        """Return the changes as `App.set_keymap` takes them."""
        return {name: ",".join(bound_keys(keys)) for name, keys in self._changes.items()}


def read_keymap(path: str) -> Keymap:
    """Return the keymap of a file; the actions' own keys where there is no file.

    Raises:
        KeymapError: It is not TOML, names an action that there is not, or one key twice.
    """
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except FileNotFoundError:
        return Keymap()
    except (OSError, ValueError) as error:
        raise KeymapError(f"{path}: cannot be read as TOML: {error}") from error
    changes: dict[str, tuple[str, ...]] = {}
    owners: dict[str, str] = {}
    for action_id, keys in table.items():
        if action_id not in BY_ID:
            raise KeymapError(f"{path}: no action is called {action_id!r}; {_hint(action_id)}")
        changes[action_id] = _key_names(path, action_id, keys)
        for key in changes[action_id]:
            if key in owners:
                raise KeymapError(f"{path}: {key!r} is given to {owners[key]} and {action_id}")
            owners[key] = action_id
    return Keymap(changes)


def _key_names(path: str, action_id: str, keys: object) -> tuple[str, ...]:
    listed = [keys] if isinstance(keys, str) else keys
    usable = isinstance(listed, list) and all(isinstance(key, str) and key for key in listed)
    if not usable or not listed:
        raise KeymapError(f'{path}: {action_id} needs a key such as "n", or a list of keys')
    assert isinstance(listed, list)
    return tuple(map(textual_key, listed))


def _hint(action_id: str) -> str:
    close = difflib.get_close_matches(action_id, BY_ID, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(BY_ID)}"
