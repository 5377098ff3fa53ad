"""The README says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfdbg_tui.tui.actions.registry import key_table

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
OF_THE_APP = ROOT / "tfdbg_tui" / "tui" / "README.md"
PAGES = [README, *sorted(ROOT.glob("tfdbg_tui/**/README.md")), ROOT / ".github" / "ARCHITECTURE.md"]


def test_the_key_table_is_that_of_the_registry() -> None:
    table = re.search(r"<!-- keys -->\n(.*?)\n<!-- /keys -->", OF_THE_APP.read_text(), re.DOTALL)
    assert table is not None
    assert table[1] == key_table().strip(), "print(key_table()) prints it: see ARCHITECTURE.md"


def test_its_test_command_is_the_one_that_ci_runs() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    (command,) = re.findall(r"\.venv/bin/pytest[^\n]*", README.read_text())
    assert command in ci


def test_its_versions_of_tensorflow_are_those_that_ci_tests() -> None:
    ci = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (tested,) = re.findall(r"tensorflow: \[(.*)\]", ci)
    versions = re.findall(r"2\.\d+", tested)
    assert f"({versions[0]} to {versions[-1]})" in README.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.parent.relative_to(ROOT)))
def test_what_pages_link_to_is_there(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text()):
        path, _, heading = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), target
        assert not heading or heading in map(anchor, linked.read_text().splitlines()), target


def anchor(line: str) -> str:
    """Return what a link to a heading ends in."""
    return re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
