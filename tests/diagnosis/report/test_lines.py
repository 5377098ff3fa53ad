"""Which line of the user's a root is told at, where several are involved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfdbg_tui import Report


def diagnosed(directory: Path, program: Callable[[], Any]) -> Report:
    """Returns the report on a program."""
    tfdbg_tui.enable_dump_debug_info(str(directory), "ADAPTIVE", -1)
    try:
        program()
    finally:
        tfdbg_tui.disable_dump_debug_info()
    return tfdbg_tui.diagnose(tfdbg_tui.open_run(directory))


def logarithm(x: Any) -> Any:
    return tf.math.log(x)


@tf.function
def two_logarithms(a: Any, b: Any) -> Any:
    of_a = logarithm(a)
    of_b = logarithm(b)
    return of_a, of_b


@pytest.mark.parametrize(
    ("b", "rules"),
    [(-1.0, ["log-of-zero", "log-of-negative"]), (0.0, ["log-of-zero"])],
    ids=["two causes", "one cause"],
)
def test_a_line_that_is_called_for_two_causes_has_two_roots(
    tmp_path: Path, b: float, rules: list[str]
) -> None:
    roots = diagnosed(tmp_path, lambda: two_logarithms(tf.constant(0.0), tf.constant(b))).roots
    assert [root.rule for root in roots] == rules
    assert [root.location.code for root in roots if root.location] == [
        "return tf.math.log(x)" for _ in rules
    ]
    callers = {root.evidence.partition("; called at ")[2] for root in roots}
    assert len(callers) == len(rules)
    assert ("" in callers) == (len(rules) == 1)


def test_a_variable_is_bad_by_its_update_and_not_by_who_reads_it(tmp_path: Path) -> None:
    variable = tf.Variable(3e38)

    @tf.function
    def update() -> None:
        variable.assign_add(3e38)

    def program() -> None:
        update()
        variable.numpy()

    (root,) = diagnosed(tmp_path, program).roots
    assert (root.rule, root.op_type) == ("variable-overflow", "ReadVariableOp")
    assert root.location is not None
    assert root.location.code == "variable.assign_add(3e38)"
    assert "; read at test_lines.py:" in root.evidence


class Reciprocal(tf.Module):  # type: ignore[name-defined]
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def __call__(self, x: Any) -> Any:
        return 1.0 / x


@pytest.mark.parametrize("is_called_in_graph", [False, True], ids=["eager", "graph"])
def test_a_loaded_function_is_told_where_it_is_called(
    tmp_path: Path, is_called_in_graph: bool
) -> None:
    tf.saved_model.save(Reciprocal(), str(tmp_path / "model"))

    def program() -> None:
        loaded = tf.saved_model.load(str(tmp_path / "model"))

        def call(x: Any) -> Any:
            return loaded(x)

        called = tf.function(call) if is_called_in_graph else call
        called(tf.constant([0.0, 2.0]))

    (root,) = diagnosed(tmp_path / "log", program).roots
    assert root.rule == "division-by-zero"
    assert root.location is not None
    assert root.location.code == "return loaded(x)"
    assert "; loaded at test_lines.py:" in root.evidence
    assert root.suggestion is None  # there are divisions of paths in its lines
    assert "a function that was loaded" in root.fix
