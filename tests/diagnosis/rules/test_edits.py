"""Suggestions name the user's own expression."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tfdbg_tui.diagnosis.events import TensorEvent, graph_op_of
from tfdbg_tui.diagnosis.gradients import is_backward
from tfdbg_tui.diagnosis.rules import RULES
from tfdbg_tui.diagnosis.rules.edits import (
    Edit,
    Occurrence,
    Occurrences,
    for_keras,
    suggestion,
)
from tfdbg_tui.logdir import open_run
from tfdbg_tui.wire.expressions import Expression

if TYPE_CHECKING:
    from tests.conftest import RecordedLogdirs
    from tfdbg_tui.diagnosis.rules.model import Rule

_LOG = Edit("log(X)", "{F}(tf.maximum({X}, 1e-7))")
_DIVIDE = Edit("X / Y", "tf.math.divide_no_nan({X}, {Y})")


@pytest.mark.parametrize(
    ("code", "becomes", "expected"),
    [
        ("(x - m) / tf.sqrt(v)", "{X} / ({Y} + 1e-7)", "(x - m) / (tf.sqrt(v) + 1e-7)"),
        ("a * b / (c - d)", "{X} / ({Y} + 1e-7)", "a * b / (c - d + 1e-7)"),
        ("a / (b if c else d)", "{X} / ({Y} + 1e-7)", "a / ((b if c else d) + 1e-7)"),
        ("a / (b - c)", "tf.math.divide_no_nan({X}, {Y})", "tf.math.divide_no_nan(a, b - c)"),
        ("a / -b", "tf.abs({Y}) ** {Y}", "tf.abs(-b) ** (-b)"),
        ("(a + b) / c", "tf.cast(c, {X}.dtype)", "tf.cast(c, (a + b).dtype)"),
    ],
)
def test_a_suggestion_means_what_the_expression_meant(
    code: str, becomes: str, expected: str
) -> None:
    found = suggestion([code], 1, [Edit("X / Y", becomes)])
    assert found == f"{code} → {expected}"


@pytest.mark.parametrize(
    ("code", "edit", "expected"),
    [
        (
            "loss = -labels * tf.math.log(probs)",
            _LOG,
            "tf.math.log(probs) → tf.math.log(tf.maximum(probs, 1e-7))",
        ),
        ("y = log(a[0] + f(b))", _LOG, "log(a[0] + f(b)) → log(tf.maximum(a[0] + f(b), 1e-7))"),
        ("y = log(x=z)", _LOG, "log(x=z) → log(tf.maximum(z, 1e-7))"),
        ("m = (x - mean) / std", _DIVIDE, "(x - mean) / std → tf.math.divide_no_nan"),
        ("y = tf.math.log(r) / np.log(10.0)", _LOG, "tf.math.log(r) →"),
        ("y = tf.exp(x)", _LOG, None),
        ("y = log()", _LOG, None),
        ("y = log(", _LOG, None),
        ("\x00", _LOG, None),
        ("(" * 5000, _LOG, None),
    ],
)
def test_suggestion(code: str, edit: Edit, expected: str | None) -> None:
    found = suggestion([code], 1, [edit])
    if expected is None:
        assert found is None
    else:
        assert found.startswith(expected)


def test_no_source_is_parsed_that_would_take_seconds() -> None:
    line = "y = tf.math.log(x)"
    assert suggestion([line, "z = 0"], 1, [_LOG]) is not None
    assert suggestion([line, "z = 0" + " + 1" * 250_000], 1, [_LOG]) is None


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("log(h) → log(tf.maximum(h, 1e-7))", "log(h) → log(keras.ops.maximum(h, 1e-7))"),
        ("a / b → a / (b + 1e-7)", "a / b → a / (b + 1e-7)"),
        ("a / b → tf.math.divide_no_nan(a, b)", "a / b → keras.ops.divide_no_nan(a, b)"),
        ("log(p) → tf.clip_by_value(p, 0, 1)", "log(p) → keras.ops.clip(p, 0, 1)"),
        ("log(det(x)) → tf.linalg.slogdet(x).log_abs_determinant", None),
    ],
)
def test_symbolic_tensors_are_given_to_keras(found: str, expected: str | None) -> None:
    assert for_keras(found) == expected


def test_the_call_is_found_on_any_line_of_a_statement() -> None:
    lines = ["loss = tf.reduce_mean(", "    tf.math.log(", "        p))"]
    assert suggestion(lines, 3, [_LOG]) is None  # it would span lines
    lines = [
        "with tf.GradientTape() as tape:",
        "    loss = -tf.reduce_mean(",
        "        tf.math.log(p)",
        "    )",
    ]
    assert suggestion(lines, 2, [_LOG]).startswith("tf.math.log(p)")
    assert suggestion(lines, 1, [_LOG]) is None
    lines = ["loss = tf.reduce_mean(", "    tf.math.log(p)", ")"]
    assert suggestion(lines, 2, [_LOG]).startswith("tf.math.log(p)")
    assert suggestion(lines, 9, [_LOG]) is None


@pytest.mark.parametrize(
    ("number", "total", "expected"),
    [
        (0, 2, "tf.math.log(p) →"),
        (1, 2, "tf.math.log(1 - p) →"),
        (5, 6, "tf.math.log(1 - p) →"),  # the line ran three times
        (1, 3, None),  # another op of the line is no expression of it
    ],
)
def test_of_several_expressions_the_one_that_made_the_op(
    number: int, total: int, expected: str | None
) -> None:
    code = "loss = y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p)"
    assert suggestion([code], 1, [_LOG]) is None
    found = suggestion([code], 1, [_LOG], Occurrence(number, total))
    assert found is None if expected is None else found.startswith(expected)


def test_the_expression_on_record_tells_them_apart() -> None:
    code = "loss = tf.math.log(tf.math.log(p) + q) + tf.math.log(1 - p)"
    for text in ("tf.math.log(p)", "tf.math.log(1 - p)", "tf.math.log(tf.math.log(p) + q)"):
        begin = code.index(text)
        expression = Expression(1, begin, 1, begin + len(text))
        found = suggestion([code], 1, [_LOG], expression=expression)
        assert found is not None
        assert found.startswith(f"{text} →")


def test_what_a_call_holds_is_changed_with_it() -> None:
    """The op of the rule may be of a part: the mean's division is made by its call."""
    code = "y = tf.math.log(tf.stop_gradient(x)) + tf.math.log(z)"
    begin = code.index("tf.stop_gradient")
    expression = Expression(1, begin, 1, begin + len("tf.stop_gradient(x)"))
    found = suggestion([code], 1, [_LOG], expression=expression)
    assert found is not None
    assert found.startswith("tf.math.log(tf.stop_gradient(x)) →")


def test_evaluation_order_is_from_the_inside_out() -> None:
    code = "y = tf.math.log(tf.math.log(x) + tf.math.log(z))"
    found = [suggestion([code], 1, [_LOG], Occurrence(i, 3)) for i in range(3)]
    assert [text.split(" → ")[0] for text in found] == [
        "tf.math.log(x)",
        "tf.math.log(z)",
        "tf.math.log(tf.math.log(x) + tf.math.log(z))",
    ]


def test_the_ops_of_a_graph_are_listed_once(logdirs: RecordedLogdirs) -> None:
    class Counted(dict[str, Any]):
        listed = 0

        def values(self) -> Any:
            Counted.listed += 1
            return super().values()

    run = open_run(logdirs["mnist"])
    for graph in run.graphs.values():
        graph.ops = Counted(graph.ops)
    events = [TensorEvent("graph_execution", row, 0) for row in range(len(run.graph_executions))]
    forward = [event for event in events if not is_backward(run, event)]
    ops = {op.name: op for event in forward if (op := graph_op_of(run, event))}
    occurrences = Occurrences(run, alike=lambda index: np.array([index]))
    Counted.listed = 0
    found = {graph_op_of(run, event).name: occurrences.of(event) for event in forward}
    assert 0 < Counted.listed <= len(run.graphs)
    for name, occurrence in found.items():
        op = ops[name]
        kin = [
            o.name
            for o in dict.values(run.graphs[op.graph_id].ops)
            if (o.op_type, o.stack_id) == (op.op_type, op.stack_id)
        ]
        assert kin[occurrence.number] == name
        assert occurrence.total == len(kin)


_NORM = Edit("norm(X, AXES)", "tf.sqrt(tf.reduce_sum(tf.square({X}){axes}) + {eps2})")


@pytest.mark.parametrize(
    ("code", "dtype", "expected"),
    [
        ("tf.norm(x)", None, "tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-12)"),
        ("tf.norm(x, axis=-1)", None, "tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1) + 1e-12)"),
        ("tf.norm(x)", "float16", "tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-4)"),
        ("tf.norm(x, 1)", None, None),
        ("tf.norm(x, ord=1)", None, None),
    ],
)
def test_a_reduction_keeps_its_axes(code: str, dtype: str | None, expected: str | None) -> None:
    assert suggestion([code], 1, [_NORM], None, dtype) == (expected and f"{code} → {expected}")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_numbers_suit_the_type(dtype: str) -> None:
    edit = Edit("X / Y", "({eps}, {eps2}, {ulps}, {exp_max})")
    found = suggestion(["a / b"], 1, [edit], None, dtype)
    numbers = np.array(ast.literal_eval(found.split(" → ")[1]), dtype)
    eps, eps2, ulps, exp_max = numbers
    results = [1 / eps, 1 / np.sqrt(eps2), 1 / (1 - (1 - ulps)), np.exp(exp_max)]
    assert np.isfinite(np.array(results, dtype)).all()


@pytest.mark.parametrize(
    ("code", "new"),
    [
        ("y = x ** 0.3", "tf.sign(x) * tf.abs(x) ** 0.3"),
        ("y = 1.0 / x ** 0.3", "(tf.sign(x) * tf.abs(x) ** 0.3)"),
        ("y = f(x ** 0.3)", "tf.sign(x) * tf.abs(x) ** 0.3"),
    ],
)
def test_a_new_expression_binds_as_the_old_one_did(code: str, new: str) -> None:
    edit = Edit("X ** Y", "tf.sign({X}) * tf.abs({X}) ** {Y}")
    assert suggestion([code], 1, [edit]) == f"x ** 0.3 → {new}"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("tf.divide(a, b)", "tf.math.divide_no_nan(a, b)"),
        ("tf.divide(x=a, y=b)", "tf.math.divide_no_nan(a, b)"),
        ("tf.divide(a, y=b)", "tf.math.divide_no_nan(a, b)"),
        ("tf.divide(y=b, x=a)", None),
    ],
)
def test_arguments_in_another_order_are_not_mixed_up(code: str, found: str | None) -> None:
    edit = Edit("divide(X, Y)", "tf.math.divide_no_nan({X}, {Y})")
    assert suggestion([code], 1, [edit]) == (found and f"{code} → {found}")


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.edits], ids=lambda rule: rule.id)
def test_each_edit_of_a_rule_changes_an_expression_of_its_pattern(rule: Rule) -> None:
    for edit in rule.edits:
        code = re.sub(r"\((\w+)(\|\w+)+\)", r"\1", edit.pattern).replace("AXES", "axis=1")
        old, new = suggestion([code], 1, [edit], None, "float32").split(" → ")
        assert ast.dump(ast.parse(old)) != ast.dump(ast.parse(new))
