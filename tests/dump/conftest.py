"""What holds for all tests of the dump writer."""

from __future__ import annotations

import logging

import pytest


@pytest.fixture(autouse=True)
def _warnings_of_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep TensorFlow's out of what tests find logged: which there are depends on earlier tests.

    It warns where functions of one line are traced often in a process.
    """
    monkeypatch.setattr(logging.getLogger("tensorflow"), "disabled", True)
