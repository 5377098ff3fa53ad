"""The corpus is large enough, and its halves are alike."""

from __future__ import annotations

from collections import Counter

import pytest

pytestmark = pytest.mark.tensorflow


def test_the_corpus_is_large_and_balanced_in_each_theme():
    from .registry import programs

    corpus = programs()
    assert sum(not program.healthy for program in corpus) >= 72
    assert sum(program.healthy for program in corpus) >= 20

    for healthy in (False, True):
        count = Counter(
            (program.half, program.name.split(".")[0])
            for program in corpus
            if program.healthy == healthy
        )
        for _, theme in list(count):
            assert abs(count["dev", theme] - count["held_out", theme]) <= 1, theme


def test_no_name_is_in_both_halves():
    from .registry import programs

    names = [program.name for program in programs()]
    assert len(names) == len(set(names))
