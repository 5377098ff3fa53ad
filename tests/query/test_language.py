"""Filters as they are typed."""

from __future__ import annotations

import numpy as np
import pytest

from tfdbg_tui.query import QueryError, parse
from tfdbg_tui.query.language import searched


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("typ=Relu", "did you mean type?"),
        ("xyzzy=1", "there are name, type"),
        ("step=six", "six is no number, as step needs"),
        ("step=9..2", "no number is in 9..2: the smaller one comes first"),
        ("step=30,0", "30,0 is no number, as step needs: one, or a range"),
        ("step~6", "step is a number"),
        ("type>Relu", "type is a text"),
        ("type=", "needs a value"),
        ("size>9%", "size has no share"),
        ("name~(", "no regular expression"),
        ("/(/", "no regular expression"),
        ("step>1..2", "a range goes with ="),
        ("bad !bad", "nothing is both"),
    ],
)
def test_what_cannot_be_understood_is_told_in_a_sentence(text: str, told: str) -> None:
    with pytest.raises(QueryError, match=told.replace("?", r"\?").replace("(", r"\(")):
        parse(text)


@pytest.mark.parametrize(
    ("text", "fitting", "others"),
    [
        ("relu", ["Relu:0", "my_relu"], ["Log"]),
        ("Relu", ["Relu:0"], ["my_relu"]),
        ("!relu", ["Log"], ["Relu:0"]),
        ("name=a*:0,b", ["ab:0", "B"], ["ab:1", "bb"]),
        ("name=blocks[0]*", ["blocks[0]", "blocks[0]/w"], ["blocks0", "blocks[1]"]),
        ("name!=a", ["b"], ["a", "A"]),
        ("name~^a.c$", ["abc"], ["abcd"]),
        ("name~/^a.c$/", ["abc"], ["abcd"]),
        ("/a.c/", ["xabcx"], ["ac"]),
        ('name="a b"', ["a b"], ["a", "b"]),
        ("log loss", ["loss/Log"], ["loss", "Log"]),
        ("", ["x"], []),
    ],
)
def test_terms_about_texts(text: str, fitting: list[str], others: list[str]) -> None:
    terms = parse(text).texts
    for name in (*fitting, *others):
        assert all(term.fits({"name": [name]}) for term in terms) == (name in fitting), name


@pytest.mark.parametrize(
    ("text", "fitting", "others"),
    [
        ("line=train.py:19", ["/a/train.py:19", "C:\\a\\train.py:19"], ["/a/train.py:191"]),
        ("line=train.py", ["train.py:1", "/a/train.py:19"], ["/a/my_train.py:19"]),
        ("line=a/train.py:19", ["/b/a/train.py:19"], ["/b/train.py:19"]),
        ("line=*.py:7", ["/b/x.py:7"], ["/b/x.py:70"]),
    ],
)
def test_a_place_is_known_by_its_end(text: str, fitting: list[str], others: list[str]) -> None:
    (term,) = parse(text).texts
    assert all(term.fits({"line": [place]}) for place in fitting)
    assert not any(term.fits({"line": [place]}) for place in others)


@pytest.mark.parametrize(
    ("text", "fitting", "others"),
    [
        ("size=6..9", [6, 9], [5, 10, None]),
        ("size=..9", [-1, 9], [10]),
        ("size>2", [3], [2]),
        ("size>=2", [2], [1]),
        ("size<2", [1], [2]),
        ("size!=2", [1, None], [2]),
        ("size=1.5k", [1500], [1501]),
        ("!size>2", [2], [3]),
    ],
)
def test_terms_about_numbers(
    text: str, fitting: list[int | None], others: list[int | None]
) -> None:
    (term,) = parse(text).numbers
    assert term.fits({"size": np.array(fitting, float)}).all()
    assert not term.fits({"size": np.array(others, float)}).any()


def test_shares_are_of_all_elements() -> None:
    (term,) = parse("zero>90%").numbers
    zeros, sizes = np.array([91.0, 90, 0, 91]), np.array([100, 100, 0, np.nan])
    assert term.fits({"zero": zeros, "size": sizes}).tolist() == [True, False, False, False]


def test_the_style_of_an_expression_is_not_commented_on() -> None:
    """The tests end at a warning, which a terminal would show across the screen."""
    assert searched("[[a]")
    assert parse("/[[a]/").texts
