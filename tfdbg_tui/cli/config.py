"""The user's own defaults of the app's options: a file with a line for each.

``~/.config/tfdbg-tui/config.toml`` (or below ``$XDG_CONFIG_HOME``)::

    theme = "tfdbg-light"
    mouse = false
    pane_columns = [2, 1, 2]
    pane_rows = [1, 2, 2]

The sizes of panes are shares of the screen.  What is given on the command line counts first.
"""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from typing import Any

from tfdbg_tui.user_files import config_path

_SETTINGS: dict[str, type] = {
    "theme": str,
    "ascii": bool,
    "mouse": bool,
    "slow": bool,
    "pane_columns": list,
    "pane_rows": list,
}
_KINDS = {
    str: "a text in quotes",
    bool: "true or false",
    list: "three whole numbers from 1 on, as [2, 1, 2]",
}


class ConfigError(Exception):
    """The file cannot be used; the message says why."""


def read_config() -> dict[str, Any]:
    """Return the settings of the user's file by name; none where there is no file.

    Raises:
        ConfigError: It is not TOML, or has a setting that there is not, or one of a wrong type.
    """
    path = config_path("config.toml")
    try:
        with open(path, "rb") as file:
            settings = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from error
    for name, value in settings.items():
        if name not in _SETTINGS:
            close = get_close_matches(name, _SETTINGS, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_SETTINGS)}"
            raise ConfigError(f"{path}: there is no setting {name}: {hint}")
        if not _fits(value, _SETTINGS[name]):
            raise ConfigError(f"{path}: {name} takes {_KINDS[_SETTINGS[name]]}")
    return settings


def _fits(value: Any, kind: type) -> bool:
    if kind is not list:
        return isinstance(value, kind)
    are_sizes = isinstance(value, list) and all(type(size) is int and size > 0 for size in value)
    return are_sizes and len(value) == 3
