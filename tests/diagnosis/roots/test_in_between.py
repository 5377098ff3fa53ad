"""What does no harm at first and at last, and does in between, is found, in its own step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Step = tuple[list[float], list[bool]]

_KEPT, _LEFT_OUT = [False, False], [True, False]


def without_infinities(x: Any, _: Any) -> Any:
    log = tf.math.log(x)
    return tf.reduce_sum(tf.where(tf.math.is_inf(log), 0.0, log))


def without_masked(x: Any, mask: Any) -> Any:
    log = tf.math.log(x)
    return tf.reduce_sum(tf.where(mask, 0.0, log))


@pytest.mark.parametrize("wrapped", [tf.function, lambda program: program], ids=["graph", "eager"])
@pytest.mark.parametrize(
    ("program", "steps", "roots"),
    [
        (without_infinities, [([0.0, 0.5], _KEPT)] * 3, []),
        (
            without_infinities,
            [([0.0, 0.5], _KEPT), ([0.0, -0.5], _KEPT), ([0.0, 2.0], _KEPT)],
            [("log-of-negative", 1)],
        ),
        (without_masked, [([0.0, 0.5], _LEFT_OUT)] * 3, []),
        (
            without_masked,
            [
                ([0.0, 0.5], _LEFT_OUT),
                ([0.0, 0.5], _LEFT_OUT),
                ([0.0, 0.5], _KEPT),
                ([0.0, 0.5], _LEFT_OUT),
            ],
            [("log-of-zero", 2)],
        ),
    ],
)
def test_roots(
    tmp_path: Path,
    wrapped: Callable[[Any], Any],
    program: Callable[[Any, Any], Any],
    steps: list[Step],
    roots: list[tuple[str, int]],
) -> None:
    watched = wrapped(program)
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        for number, (x, mask) in enumerate(steps):
            with tfdbg_tui.step(number):
                watched(tf.constant(x), tf.constant(mask))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    report = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path))
    assert [(root.rule, root.step) for root in report.roots] == roots
    assert report.verdict == ("bad" if roots else "clean")
    assert report.benign


def difference(a: Any, b: Any) -> Any:
    return tf.math.log(a) - tf.math.log(b)


def quotients(a: Any, b: Any) -> Any:
    return b / a + (b + 1.0) / a


def poles(a: Any, b: Any) -> Any:
    return tf.math.log(a) + b / a


def unrolled(a: Any, b: Any) -> Any:
    total = 0.0
    for x in [a, b]:
        total += tf.reduce_sum(tf.abs(tf.math.log(x)))
    return total


@pytest.mark.parametrize(
    ("program", "steps", "expressions"),
    [
        (
            difference,
            [([0.0, 1.0], [1.0, 1.0])] * 12 + [([1.0, 1.0], [0.0, 1.0])] * 3,
            ["tf.math.log(a)", "tf.math.log(b)"],
        ),
        (
            tf.function(quotients),
            [([0.0, 1.0], [1.0, 1.0])],
            ["b / a", "(b + 1.0) / a"],
        ),
        (tf.function(poles), [([0.0, 1.0], [1.0, 1.0])], ["tf.math.log(a)", "b / a"]),
        (tf.function(unrolled), [([0.0, 1.0], [0.0, 1.0])], ["tf.math.log(x)"]),
    ],
    ids=["eager", "graph", "poles", "unrolled"],
)
def test_a_line_is_one_root_that_names_its_expressions(
    tmp_path: Path,
    program: Callable[[Any, Any], Any],
    steps: list[tuple[list[float], list[float]]],
    expressions: list[str],
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        for a, b in steps:
            tf.abs(program(tf.constant(a), tf.constant(b)))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (root,) = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).roots
    first, _, others = root.evidence.partition("; bad as well: ")
    assert first.startswith("1 zero in")
    changes = [
        (root.suggestion or "").split(" → "),
        *(o.split(" → ") for o in root.other_suggestions),
    ]
    assert [old for old, _ in changes] == expressions
    assert all(old != new for old, new in changes)
    assert others == ", ".join(expressions[1:])


def test_generated_functions_that_a_line_calls_are_one_root(tmp_path: Path) -> None:
    """What can be changed is what they are given."""
    texts = {f"<generated-{n}>": f"lambda x: {n} / (x * {n})" for n in (2.0, 3.0)}
    made = [eval(compile(text, name, "eval")) for name, text in texts.items()]
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        tf.function(lambda x: sum(function(x) for function in made))(tf.zeros([2]))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (root,) = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).roots
    assert root.op_type == "RealDiv"


def test_what_goes_into_a_list_is_one_place(tmp_path: Path) -> None:
    """Which of the elements comes out of it where, is not on record."""

    @tf.function
    def number_above(x: Any) -> Any:
        logs = tf.map_fn(lambda v: tf.math.log(tf.reduce_sum(tf.boolean_mask(v, v > 1.0))), x)
        return tf.reduce_sum(tf.cast(logs > 0.5, tf.float32))

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        number_above(tf.constant([[0.1, 0.7], [0.2, 2.0], [0.3, 0.3]]))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    assert tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).verdict == "clean"


def test_who_only_tells_that_a_value_is_not_finite_has_not_left_it_out(tmp_path: Path) -> None:
    """The functions that are called after it are traced in the first step, by other frames."""
    ratio = tf.function(lambda hits, mask: tf.reduce_sum(hits * mask) / tf.reduce_sum(mask))
    square = tf.function(tf.square)
    told = []
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        for mask in (1.0, 0.0, 1.0):
            told.append(bool(tf.math.is_nan(ratio(tf.ones([2]), tf.fill([2], mask)))))
            square(tf.constant(2.0))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    (root,) = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).roots
    assert root.op_type == "RealDiv"
    assert told == [False, True, False]


def test_two_expressions_of_a_line_in_a_graph_are_two_roots(tmp_path: Path) -> None:
    numbers = [tf.constant(n) for n in ([1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0])]
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    try:
        tf.function(lambda a, b, c, d: a / b + c / d)(*numbers)
    finally:
        tfdbg_tui.disable_dump_debug_info()
    roots = tfdbg_tui.diagnose(tfdbg_tui.open_run(tmp_path)).roots
    assert [root.location.code[slice(*root.location.columns)] for root in roots] == [
        "a / b",
        "c / d",
    ]
