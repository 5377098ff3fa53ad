"""Names with columns behind them: the last two parts of a name come first."""

from __future__ import annotations

import pytest

from tfdbg_tui.tui.terminal.text import ASCII, UNICODE, Charset
from tfdbg_tui.tui.widgets.names import Column, least_of, least_width, split_name, with_columns

NAME = "encoder/self_attention_1/query_dense/MatMul:0"
TAIL = "query_dense/MatMul:0"
COLUMNS = [Column("BatchMatMulV2", 14), Column("one_step_on_data", 17), Column("1,024", 6, True)]


@pytest.mark.parametrize("charset", [UNICODE, ASCII])
@pytest.mark.parametrize("width", range(4, 50))
def test_the_last_two_parts_are_whole_as_long_as_name_and_columns_have_room(
    charset: Charset, width: int
) -> None:
    name, texts, above = with_columns(NAME, width, COLUMNS, charset)
    assert not above
    assert len(name) + sum(map(len, texts)) == width + 14 + 17 + 6
    assert TAIL in name
    if width >= least_width(NAME):
        assert texts == [" BatchMatMulV2", " one_step_on_data", " 1,024"], "nothing is lent"


def test_the_nearest_column_lends_first_and_says_that_it_is_cut() -> None:
    name, texts, _ = with_columns(NAME, 18, COLUMNS, UNICODE)
    assert (name, texts[0]) == (f"…/{TAIL}", " BatchMat…")
    name, texts, _ = with_columns(NAME, 12, COLUMNS, UNICODE)
    assert (texts[0], texts[1]) == ("", " one_step_on_data"), "of few cells nothing is left"
    assert name.endswith(f"/{TAIL}")


def test_of_a_number_nothing_is_cut() -> None:
    number = Column("1,024", 8, flush_right=True)
    assert with_columns(NAME, 20, [number], UNICODE)[1] == [" 1,024"], "blank cells are lent"
    assert with_columns(NAME, 19, [number], UNICODE)[1] == [""]


def test_an_op_type_that_the_name_ends_with_is_not_cut_but_left_out() -> None:
    assert with_columns(NAME, 18, [Column("Mat", 14)], UNICODE)[1] == [" Mat      "]
    assert with_columns("scope/a/b/MatMul_1:0", 6, [Column("MatMul", 12)], UNICODE)[1] == [""]


def test_a_column_that_stays_lends_blank_cells_and_those_behind_it_none() -> None:
    columns = [Column("MatMul", 7), Column("step", 10, stays=True), Column("x" * 20, 21)]
    name, texts, above = with_columns(NAME, 13, columns, UNICODE)
    assert (name, texts[0], above) == (f"…/{TAIL}", "", []), "of few cells nothing is left"
    name, texts, above = with_columns(NAME, 8, columns, UNICODE)
    assert texts == [" MatMul", " step     ", " " + "x" * 20]
    assert (name, above) == ("MatMul:0", ["…/query_dense/"])


@pytest.mark.parametrize("charset", [UNICODE, ASCII])
@pytest.mark.parametrize("width", range(2, 40))
def test_lines_before_a_row_and_what_is_left_for_it_are_the_last_two_parts(
    charset: Charset, width: int
) -> None:
    above, rest = split_name(NAME, width, 24, charset)
    assert "".join([*above, rest]).removeprefix(f"{charset.ellipsis}/").endswith(TAIL)
    assert all(len(line) <= 24 for line in above)
    assert len(charset.fit_name(rest, width)) == width
    assert rest == NAME or rest in charset.fit_name(rest, width)


def test_what_the_last_two_parts_need() -> None:
    assert least_width("Log:0") == len("Log:0")
    assert least_width("a/b/c/d:0") == len("…/c/d:0")
    assert least_of(["Log:0", NAME]) == len("…/" + TAIL)
    assert least_of([]) == 0


def test_of_a_layer_or_a_line_the_end_is_told() -> None:
    columns = [Column("gpt2/backbone/attention.py:138", 20, is_path=True)]
    assert with_columns("Log:0", 8, columns, UNICODE)[1] == [" …e/attention.py:138"]


def test_a_text_without_room_takes_the_blank_cells_right_behind_it() -> None:
    op_type = Column("UnsortedSegmentSum", 12)
    for behind in ([Column("", 9)], [Column("", 4), Column("", 5)], [Column("12", 10, True)]):
        texts = with_columns("Sum:0", 6, [op_type, *behind], UNICODE).texts
        assert texts[0] == " UnsortedSegmentSum"
        assert len("".join(texts)) == sum(column.width for column in [op_type, *behind])
        assert texts[-1].endswith(behind[-1].text)
    texts = with_columns("Sum:0", 6, [op_type, Column("", 3), Column("f", 9)], UNICODE).texts
    assert texts == [" UnsortedSegme…", "", " f       "], "what lies beyond another text stays"
    assert with_columns("Sum:0", 6, [op_type, Column("f", 9)], UNICODE).texts[1] == " f       "
    number = Column("1,024", 4, flush_right=True)
    assert with_columns("Sum:0", 6, [number, Column("", 9)], UNICODE).texts[1] == " " * 9
