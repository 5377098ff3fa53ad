"""What each entry point imports: viewing needs no TensorFlow, headless commands no Textual."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("tensorflow", "keras", "google.protobuf", "textual", "rich", "pygments", "numpy", "fsspec")


def imported_by(code: str) -> set[str]:
    """Return which heavy packages a fresh interpreter has imported after running `code`."""
    probe = f"{code}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    return set(eval(result.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import tfdbg_tui", set()),
        ("import tfdbg_tui.cli", set()),
        ("import tfdbg_tui.wire.events", set()),
        ("from tfdbg_tui import open_run", {"numpy"}),
        ("import tfdbg_tui.cli.info", {"numpy"}),
        ("import tfdbg_tui.cli.diagnose", {"numpy"}),
        ("import tfdbg_tui.tui.app", {"numpy", "textual", "rich", "pygments"}),
    ],
)
def test_imports_no_more_than_it_needs(code: str, allowed: set[str]) -> None:
    assert imported_by(code) <= allowed
