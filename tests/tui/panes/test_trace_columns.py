"""Columns of Graph Execution: by need of the rows on screen."""

from __future__ import annotations

from typing import Any

from tfdbg_tui.logdir import TensorSummary
from tfdbg_tui.tui.panes.trace_columns import TraceColumns, TraceRow, choose_columns
from tfdbg_tui.tui.terminal.text import UNICODE

SCOPE = "encoder_1/transformer_block_2/self_attention_1/"


def row(name: str, *, device: str = "", **counts: Any) -> TraceRow:
    summary = TensorSummary(4, has_inf_or_nan=False, nan=0, neg_inf=0, pos_inf=0, **counts)
    facts = {"op type": "MatMul", "function": "one_step_on_data", "device": device, "step": ""}
    return TraceRow(name, facts, summary)


def choose(rows: list[TraceRow], room: int) -> TraceColumns:
    return choose_columns(rows, room, UNICODE, several_devices=False)


def test_columns_without_text_are_left_out() -> None:
    columns = choose([row("a:0")], 200)
    assert [title for title, _ in columns.facts] == ["op type", "function"]
    assert columns.counts[3:] == (0, 0, 0), "no negative, zero and positive counts on record"
    assert sum(choose([row("a:0", neg=1, zero=2, pos=3)], 200).counts[3:]) == 18


def test_zeros_are_told_where_not_all_counts_of_finite_elements_fit() -> None:
    name = "gradients/dense/MatMul_gradients:0"
    rows = [row(name, neg=1000, zero=3, pos=1000) for _ in range(3)]
    told = {choose(rows, room).counts[3:] for room in range(60, 120)}
    assert told == {(0, 6, 0), (6, 6, 6)}


def test_scopes_that_all_rows_share_are_left_out_where_names_would_be_cut() -> None:
    rows = [row(f"{SCOPE}query_{i}/MatMul:0") for i in range(3)]
    assert choose(rows, 60).prefix == SCOPE
    assert choose(rows, 60).name >= len("query_0/MatMul:0")
    assert choose(rows, 200).prefix == "", "there is room"
    assert choose([*rows, row("adam/Cast:0")], 60).prefix == ""
    assert choose(rows[:1], 60).prefix == ""


def test_the_op_type_is_there_with_a_long_name_beside_it() -> None:
    for room in range(52, 90):
        columns = choose([row(f"{SCOPE}value_1/MatMul:0")], room)
        assert dict(columns.facts)["op type"] > len("MatMul")
        assert columns.name >= len("…/value_1/MatMul:0")
        widths = [width for _, width in columns.facts]
        assert columns.name + sum(widths) + sum(columns.counts) <= room


def test_a_column_of_counts_makes_way_for_the_last_two_parts_of_a_name() -> None:
    name = "compile_loss/crossentropy/softmax_cross_entropy_with_logits/Reshape_2:0"
    facts = {"op type": "SoftmaxCrossEntropyWithLogits", "function": "one_step_on_data"}
    bad = TensorSummary(4, has_inf_or_nan=True, nan=1, neg_inf=0, pos_inf=0, neg=1, zero=1, pos=1)
    for by in ("", "op type", "nan"):
        for room in range(61, 100):
            columns = choose_columns(
                [TraceRow(name, facts, bad)],
                room,
                UNICODE,
                several_devices=False,
                sorted_by=by,
            )
            lent = columns.most_of_name - (dict(columns.facts)[by] if by == "op type" else 0)
            assert lent >= len("…/softmax_cross_entropy_with_logits/Reshape_2:0") or by == "op type"
            assert columns.counts[0]
            assert columns.most_of_name + sum(columns.counts) <= room


def test_layers_are_told_where_no_name_is_cut_for_them() -> None:
    facts = {
        "op type": "MatMul",
        "line": "train.py:12",
        "layer": "encoder/wide",
        "dtype": "float32",
    }
    rows = [TraceRow(f"{SCOPE}query_{i}/MatMul:0", facts, row("a:0").summary) for i in range(3)]
    wide, narrow = choose(rows, 120), choose(rows, 56)
    assert [title for title, _ in wide.facts] == ["op type", "layer", "line", "dtype"]
    assert wide.name >= len(rows[0].name)
    assert "layer" not in dict(narrow.facts)
    assert narrow.name >= len(rows[0].name.removeprefix(narrow.prefix))


def test_the_smallest_number_does_not_stand_without_the_largest() -> None:
    extremes = {"min": "-0.0002143", "max": "1.234e+05"}
    rows = [row("a:0")]
    rows[0] = TraceRow("a:0", {**rows[0].facts, **extremes}, rows[0].summary)
    shown = [{title for title, _ in choose(rows, room).facts} for room in range(40, 120)]
    assert all(("min" in titles) == ("max" in titles) for titles in shown)
    assert "min" in shown[-1]


def test_the_smallest_number_needs_only_its_own_room_beside_the_largest() -> None:
    facts = {"min": "-0.0002143", "max": "1.234e+05"}
    rows = [TraceRow("some_scope/dense_layer/MatMul:0", facts, row("a:0").summary)]
    by_max = choose_columns(rows, 48, UNICODE, several_devices=False, sorted_by="max")
    assert [title for title, _ in by_max.facts] == ["min", "max"]


def test_a_very_long_name_leaves_room_for_the_columns_of_all_rows() -> None:
    long = "compile_loss/sparse_categorical_crossentropy/" + "/".join(["SoftmaxCrossEntropy"] * 4)
    facts = {"line": "train.py:67", "dtype": "float32", "min": "-5.695", "max": "7.637"}
    rows = [TraceRow(long, {**row("a:0").facts, **facts}, row("a:0").summary)]
    assert {"line", "dtype", "min", "max"} <= {title for title, _ in choose(rows, 180).facts}
    assert choose(rows, 180).name >= 64
    assert choose(rows, 400).name >= len(long)


def test_healthy_rows_tell_their_numbers_and_no_columns_of_nothing() -> None:
    facts = {**row("a:0").facts, "min": "−0.0002143", "max": "1.234e+05"}
    healthy = TraceRow("dense_1/MatMul:0", facts, row("a:0").summary)
    columns = choose([healthy], 60)
    assert {"op type", "min", "max"} <= {title for title, _ in columns.facts}
    assert columns.counts[:3] == (0, 0, 0)
    assert columns.name >= len(healthy.name)
    assert any(choose([healthy], 200).counts), "there is room for both"
    long = TraceRow("long" * 10 + "/" + "name" * 4, facts, healthy.summary)
    assert choose([long], 60).most_of_name >= len(long.name), "no column of nothing beside it"
    for other in (None, TensorSummary(4, has_inf_or_nan=True, nan=1, neg_inf=0, pos_inf=0)):
        shown = choose([healthy, TraceRow("b:0", facts, other)], 60)
        assert all(shown.counts[:3]), "that it has no value, or a bad one, is told"


def test_the_columns_that_rows_are_sorted_by_stay() -> None:
    facts = {**row("a:0").facts, "min": "−0.0002143", "max": "1.234e+05"}
    rows = [TraceRow("dense_1/MatMul:0", facts, row("a:0").summary)]
    columns = choose_columns(rows, 60, UNICODE, several_devices=False, sorted_by="nan")
    assert all(columns.counts[:3])


def test_dots_make_way_where_healthy_names_would_look_alike() -> None:
    slots = [f"layer_{i}_attention_query_kernel_momentum" for i in range(3)]
    rows = [row(f"adam/{'long_' * 2}{slot}/Initializer/zeros:0") for slot in slots]
    length = len(rows[0].name.removeprefix("adam/"))
    room = 16 + 16 + length - 30  # less than the name and both columns need
    columns = choose(rows, room)
    names = {UNICODE.fit_name(r.name.removeprefix(columns.prefix), columns.name) for r in rows}
    assert len(names) == 3
    assert not any(columns.counts)
    assert [title for title, _ in columns.facts] == ["op type"]
