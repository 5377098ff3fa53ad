"""The corpus is large enough, and its parts are what they are meant to be."""

from __future__ import annotations

from collections import Counter

import pytest

pytestmark = pytest.mark.tensorflow


def test_each_part_is_large_and_has_healthy_programs() -> None:
    from .registry import PARTS, programs

    corpus = programs()
    buggy = Counter(program.part for program in corpus if not program.healthy)
    healthy = Counter(program.part for program in corpus if program.healthy)
    for part in PARTS:
        assert buggy[part] >= 36, part
        assert healthy[part] >= 10, part


def test_no_name_is_in_two_parts() -> None:
    from .registry import programs

    names = [program.name for program in programs()]
    assert len(names) == len(set(names))
