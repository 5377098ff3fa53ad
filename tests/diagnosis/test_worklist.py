"""What is still to be looked at, each thing once."""

from __future__ import annotations

from tfdbg_tui.diagnosis.worklist import Worklist

CIRCLE = {"a": "bc", "b": "d", "c": "d", "d": "a"}  # as in a damaged file


def followed(most: int) -> tuple[list[str], set[str]]:
    names, found = Worklist(["a"], most), []
    for name in names:
        found.append(name)
        names.add(*CIRCLE[name])
    return found, names.seen


def test_a_circle_is_gone_round_once() -> None:
    assert followed(most=10) == (["a", "c", "d", "b"], {*"abcd"})


def test_no_further_one_is_taken_when_enough_are_known() -> None:
    assert followed(most=4) == (["a", "c"], {*"abcd"})


def test_what_is_given_twice_is_taken_once() -> None:
    assert list(Worklist(["a", "b", "a"])) == ["b", "a"]
