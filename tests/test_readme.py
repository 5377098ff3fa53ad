"""The README says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from tfdbg_tui.tui.actions.registry import key_table

README = Path(__file__).parent.parent / "README.md"


def test_the_key_table_is_that_of_the_registry() -> None:
    table = re.search(r"<!-- keys -->\n(.*?)\n<!-- /keys -->", README.read_text(), re.DOTALL)
    assert table is not None
    assert table[1] == key_table().strip(), "print(key_table()) prints it: see ARCHITECTURE.md"


def test_its_test_command_is_the_one_that_ci_runs() -> None:
    ci = (README.parent / ".ci" / "run").read_text()
    (command,) = re.findall(r"\.venv/bin/pytest[^\n]*", README.read_text())
    assert command in ci


def test_its_versions_of_tensorflow_are_those_that_ci_tests() -> None:
    ci = (README.parent / ".github" / "workflows" / "ci.yml").read_text()
    (tested,) = re.findall(r"tensorflow: \[(.*)\]", ci)
    versions = re.findall(r"2\.\d+", tested)
    assert f"({versions[0]} to {versions[-1]})" in README.read_text()
