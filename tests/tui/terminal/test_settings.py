"""Environment variables that Textual cannot use are told, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tfdbg_tui.tui.terminal.settings import unusable_setting

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("TEXTUAL_COLOR_SYSTEM", "many", "there are auto, standard, 256, truecolor, windows"),
        ("TEXTUAL_COLOR_SYSTEM", "", "there are auto, standard, 256, truecolor, windows"),
        ("TEXTUAL_DRIVER", "nonsense", "No module named 'nonsense'"),
        ("TEXTUAL_DRIVER", "", "Empty module name"),
        ("TEXTUAL_DRIVER", "os:path", "it has to be module:Class, of a driver of Textual"),
        ("TEXTUAL_LOG", "/nowhere/log", "No such file or directory"),
        ("TEXTUAL_LOG", "/", "Is a directory"),
    ],
)
def test_what_textual_cannot_use_is_told(name: str, value: str, why: str) -> None:
    assert unusable_setting({name: value}) == f"{name}={value} cannot be used: {why}"


def test_what_textual_can_use_is_left_to_it(tmp_path: Path) -> None:
    usable = {
        "TEXTUAL_COLOR_SYSTEM": "256",
        "TEXTUAL_DRIVER": "textual.drivers.linux_driver:LinuxDriver",
        "TEXTUAL_LOG": str(tmp_path / "log"),
    }
    assert unusable_setting(usable) is None
    assert unusable_setting({"TEXTUAL_LOG": ""}) is None
