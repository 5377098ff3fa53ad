"""A function that is called several times, and a loop: each run is told from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tfdbg_tui
from tfdbg_tui.diagnosis import Dataflow, TensorEvent
from tfdbg_tui.diagnosis.report.diagnosis import Diagnosis
from tfdbg_tui.logdir import open_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow


def _programs() -> list[Callable[[Any], Any]]:
    @tf.function
    def root(x: Any) -> Any:
        return tf.sqrt(x) + 1.0

    @tf.function
    def both(x: Any) -> Any:
        return root(x) * 2.0 + root(x - 1.5)

    @tf.function
    def weighted(x: Any, weight: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x) * weight)

    def three_times(x: Any) -> Any:
        first, second, third = root(x), root(x + 1.0), root(x - 2.5)
        return first + second + third

    def one_after_the_other(x: Any) -> Any:
        return root(root(root(root(x)) - 4.5))

    def in_calls_of_calls(x: Any) -> Any:
        return both(x + 2.0) + root(x + 1.0) + both(x)

    def arguments_swapped(x: Any) -> Any:
        zeros, ones = tf.nn.relu(1.0 - x), tf.exp(x)
        return weighted(ones, zeros) + weighted(zeros, ones)

    def in_a_branch_and_after_it(x: Any) -> Any:
        y = root(x) if tf.reduce_sum(x) > 0.0 else root(x + 2.0)
        return y + root(x - 2.0)

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(root(x)) + tf.reduce_sum(root(x - 1.0))
        return tape.gradient(loss, x)

    return [
        three_times,
        one_after_the_other,
        in_calls_of_calls,
        arguments_swapped,
        in_a_branch_and_after_it,
        gradient,
    ]


_EXPECTED = {
    "arguments_swapped": ("log-of-relu", "Log"),
    "gradient": ("gradient-of-sqrt-at-zero", "SqrtGrad"),
}


@pytest.mark.parametrize("mode", ["ADAPTIVE", "FULL_HEALTH"])
@pytest.mark.parametrize("program", _programs(), ids=lambda function: function.__name__)
def test_the_one_root_is_found_with_its_own_inputs(
    tmp_path: Path, program: Callable[[Any], Any], mode: str
) -> None:
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), mode, -1)
    tf.function(program)(tf.constant([1.0, 2.0]))
    tfdbg_tui.disable_dump_debug_info()

    run = tfdbg_tui.open_run(tmp_path)
    diagnosis = Diagnosis(run)
    (root,) = diagnosis.causes.roots
    finding = diagnosis.finding(root)
    rule, op_type = _EXPECTED.get(program.__name__, ("sqrt-of-negative", "Sqrt"))
    assert (finding.rule, finding.op_type, finding.certainty) == (rule, op_type, "proved")
    assert root.alerts == run.num_alerts
    names = [link.op_type for link in finding.chain]
    assert not any(link.inferred for link in finding.chain[: names.index(op_type)])


def test_what_a_loop_makes_is_taken_by_its_next_iteration(tmp_path: Path) -> None:
    """Of the last one, by what follows the loop; and going back leads to where one came from."""

    @tf.function
    def logs(x: Any) -> Any:
        for _ in tf.range(4):
            x = tf.math.log(x * 3.0)
        return x + 1.0

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "FULL_HEALTH", -1)
    logs(tf.constant([9.0, 4.0]))
    tfdbg_tui.disable_dump_debug_info()
    run = open_run(tmp_path)
    dataflow, traces = Dataflow(run), run.graph_executions
    made = [trace for trace in traces if trace.op_type == "Log"]
    assert [trace.iteration for trace in made] == [0, 1, 2, 3]
    taken = []
    for trace in made:
        event = TensorEvent("graph_execution", trace.index, 0)
        uses = [use.event for use in dataflow.consumers(event) if use.event is not None]
        assert all(event in [p.event for p in dataflow.producers(use)] for use in uses)
        (use,) = (traces[use.index] for use in uses)
        taken.append((use.op_type, use.iteration))
    assert taken == [("Placeholder", 1), ("Placeholder", 2), ("Placeholder", 3), ("AddV2", None)]


def test_a_call_is_of_the_function_that_is_executed(tmp_path: Path) -> None:
    """A loaded model's signatures call the same function, and have no numbers of their own."""
    log = tf.function(lambda text: tf.math.log(tf.strings.to_number(text)))
    first, second = (tf.function(lambda text: log(text)) for _ in range(2))
    text = tf.constant(["0", "1"])
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    first.get_concrete_function(text)
    second(text)
    tfdbg_tui.disable_dump_debug_info()
    (finding,) = tfdbg_tui.diagnose(open_run(tmp_path)).roots
    assert (finding.op_type, finding.alerts) == ("Log", 2)
