"""Textual's own settings, environment variables: one that it cannot use would end the app."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLOR_SYSTEM, _DRIVER, _LOG = "TEXTUAL_COLOR_SYSTEM", "TEXTUAL_DRIVER", "TEXTUAL_LOG"


def unusable_setting(environment: Mapping[str, str]) -> str | None:
    """Return in one sentence which variable Textual cannot use, and why; None where it can all.

    Args:
        environment: The variables.
    """
    checks = ((_COLOR_SYSTEM, _check_colors), (_DRIVER, _check_driver), (_LOG, _check_log))
    for name, check in checks:
        if name in environment:
            try:
                check(environment[name])
            except Exception as error:  # a driver is any module, which may raise anything
                reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                return f"{name}={environment[name]} cannot be used: {reason}"
    return None


def _check_colors(value: str) -> None:
    from rich.console import COLOR_SYSTEMS

    known = ("auto", *COLOR_SYSTEMS)
    if value not in known:
        raise ValueError(f"there are {', '.join(known)}")


def _check_driver(value: str) -> None:
    from textual.driver import Driver

    module, _, name = value.partition(":")
    found = getattr(importlib.import_module(module), name, None)
    if not (isinstance(found, type) and issubclass(found, Driver)):
        raise ValueError("it has to be module:Class, of a driver of Textual")


def _check_log(value: str) -> None:
    """Check that the file can be written to; "" is none for Textual."""
    if value:
        with open(value, "a", encoding="utf-8"):
            pass
