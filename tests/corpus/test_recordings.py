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
    outcomes = explained(archive)
    assert [outcome.line for outcome in outcomes] == expected
    for outcome in outcomes:
        for finding in (*outcome.report["roots"], *outcome.report["benign"]):
            chain = [(link["kind"], link["index"]) for link in finding["chain"]]
            assert (finding["kind"], finding["index"]) in chain, outcome.program["name"]
    if not archive.name.startswith("test"):
        assert not [line for line in expected if line.endswith("wrong")]
