"""The programs of the corpus that are packed as data are explained as they were, and rightly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .pack import RECORDINGS, explained

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("archive", sorted(RECORDINGS.glob("*.tar.xz")), ids=lambda path: path.name)
def test_recorded_programs_are_explained_as_before(archive: Path) -> None:
    """A change that is meant is written down by `python -m tests.corpus.pack --expect`."""
    expected = archive.with_suffix("").with_suffix(".tsv").read_text().splitlines()
    assert explained(archive) == expected
    if not archive.name.startswith("test"):
        assert not [line for line in expected if line.endswith("wrong")]
