"""Lines made of cells."""

from __future__ import annotations

from tfdbg_tui.tui.widgets.cells import broken, in_lines, underlined


def test_parts_that_do_not_fit_on_one_line_go_to_the_next() -> None:
    parts = [((text, "bad"),) for text in ("three bad", "two of nine", "the last one")]
    told = ["".join(text for text, _ in line) for line in in_lines(parts, "; ", 22)]
    assert told == ["three bad; two of nine", "the last one"]
    assert len(in_lines(parts, "; ", 36)) == 1
    assert in_lines([], "; ", 36) == ()


def test_a_line_is_broken_between_its_cells() -> None:
    name, dot, count, step = ("Log", "strong"), (" · ", "faint"), ("1 in → 1 out", ""), ("2", "dim")
    line = ((" ", ""), name, dot, count, dot, step)
    assert broken(line, 40, 2) == (line,)
    assert broken(line, 20, 2) == (line[:4], (("  ", ""), step))
    assert broken(line, 13, 1) == (line[:2], ((" ", ""), count), ((" ", ""), step))
    assert broken((), 12, 1) == ((),)


def test_characters_are_underlined_in_their_own_styles() -> None:
    line = (("-", ""), ("y * ", "number"), ("log", "name"), ("(p)", ""))
    assert underlined(line, 3, 8) == (
        *(("-", ""), ("y ", "number"), ("* ", "number underline"), ("log", "name underline")),
        ("(p)", ""),
    )
    assert underlined(line, 1, 3)[1:] == (("y ", "number underline"), ("* ", "number"), *line[2:])
    assert underlined(line, 8, 11)[-1] == ("(p)", "underline")
