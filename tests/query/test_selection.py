"""A filter selects what a plain look at each event does, however it is gone through."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diagnosis.tiny import Program, floats
from tfdbg_tui.diagnosis import Dataflow, readable_function
from tfdbg_tui.logdir import Execution, GraphExecution, Run, open_run
from tfdbg_tui.query import Kind, Selection, parse

if TYPE_CHECKING:
    from pathlib import Path

KINDS: tuple[Kind, ...] = ("graph_execution", "execution")
Event = Execution | GraphExecution
Predicate = Callable[[Run, Event], bool]


def summaries(event: Event) -> list[Any]:
    found = [event.summary] if isinstance(event, GraphExecution) else event.outputs
    return [summary for summary in found if summary is not None]


def function(run: Run, event: Event) -> str:
    if isinstance(event, GraphExecution):
        return readable_function(run.graphs[event.graph_id].name)
    is_function = run.executions.kind(event.index).is_function
    return readable_function(event.op_type) if is_function else ""


def places(run: Run, event: Event) -> list[str]:
    if isinstance(event, Execution):
        stack_id: int | None = event.stack_id
    else:
        op = run.op(event.graph_id, event.op_name)
        stack_id = op.stack_id if op else None
    frames = run.stack(stack_id) if stack_id is not None else ()
    return [f"{frame.path}:{frame.line}" for frame in frames]


PREDICATES: dict[str, Predicate] = {
    "bad": lambda run, event: any(s.bad for s in summaries(event)),
    "nan": lambda run, event: any(s.nan for s in summaries(event)),
    "inf": lambda run, event: any(s.neg_inf or s.pos_inf for s in summaries(event)),
    "type=Log,MatMul": lambda run, event: event.op_type in ("Log", "MatMul"),
    "fn=loss": lambda run, event: function(run, event).partition(" (")[0] == "loss",
    'fn="model (gradient)"': lambda run, event: function(run, event) == "model (gradient)",
    "line=debug_mnist.py:183": lambda run, event: any(
        place.endswith("/debug_mnist.py:183") for place in places(run, event)
    ),
    "zero>50%": lambda run, event: any(
        s.size and s.zero is not None and s.zero / s.size > 0.5 for s in summaries(event)
    ),
    "size=10..1000": lambda run, event: any(10 <= s.size <= 1000 for s in summaries(event)),
    "dtype=float32": lambda run, event: any(s.dtype == "float32" for s in summaries(event)),
    "step=1..2": lambda run, event: step(run, event) in (1, 2),
}


def step(run: Run, event: Event) -> int | None:
    if event.step is not None:
        return event.step
    if isinstance(event, Execution):
        return run.executions.steps.of(event.index)
    index = event.execution_index
    if index is None:  # TensorFlow's writer does not say it
        index = Dataflow(run).timeline.execution_of(event.index)
    return None if index is None else run.executions.steps.of(index)


@pytest.fixture(scope="module")
def mnist_run(logdirs: dict[str, Path]) -> Run:
    return open_run(logdirs["mnist"])


def selected(run: Run, kind: Kind, text: str) -> list[int]:
    selection = Selection(run, kind, parse(text))
    while not selection.complete:
        selection.advance(0)
    found: list[int] = selection.rows.tolist()
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", PREDICATES)
def test_each_term_selects_what_a_plain_predicate_does(
    mnist_run: Run, kind: Kind, text: str
) -> None:
    events = mnist_run.graph_executions if kind == "graph_execution" else mnist_run.executions
    expected = [event.index for event in events if PREDICATES[text](mnist_run, event)]
    assert selected(mnist_run, kind, text) == expected


terms = st.lists(st.tuples(st.sampled_from(sorted(PREDICATES)), st.booleans()), max_size=3)


@settings(max_examples=25)
@given(terms, st.sampled_from(KINDS))
def test_terms_that_stand_together_all_have_to_hold(
    mnist_run: Run, chosen: list[tuple[str, bool]], kind: Kind
) -> None:
    words = {("!" if negated else "") + text for text, negated in chosen}
    if {"bad", "!bad"} <= words:
        return
    events = mnist_run.graph_executions if kind == "graph_execution" else mnist_run.executions
    expected = set(range(len(events)))
    for text, negated in chosen:
        alone = set(selected(mnist_run, kind, text))
        expected &= set(range(len(events))) - alone if negated else alone
    assert selected(mnist_run, kind, " ".join(sorted(words))) == sorted(expected)


def test_a_function_may_be_called_as_the_line_that_a_report_names(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("g", "train_step")
    made.op("g", "Log", "Log", line=7)  # in a function called f
    made.op("g", "Neg", "Neg")
    made.trace("g", "Log", floats(1.0))
    made.trace("g", "Neg", floats(1.0))
    made.execution("Exp", [], {1: floats(1.0)}, line=8)
    made.execution("Add", [], {2: floats(1.0)})
    run = made.open()
    assert [selected(run, kind, "fn=f") for kind in KINDS] == [[0], [0]]
    assert selected(run, "graph_execution", "fn=train_step") == [0, 1]


def test_a_selection_goes_on_where_an_earlier_one_ended(mnist_run: Run) -> None:
    query = parse("zero>50%")
    first = Selection(mnist_run, "execution", query)
    first.advance(0)
    assert not first.complete, "one look at the clock comes after 256 records"
    rest = Selection(mnist_run, "execution", query, first.rows, first.next_row)
    rest.advance(60)
    assert rest.rows.tolist() == selected(mnist_run, "execution", "zero>50%")


def test_a_negated_text_that_executions_do_not_record_fits_all(mnist_run: Run) -> None:
    everything = list(range(len(mnist_run.executions)))
    assert selected(mnist_run, "execution", "!device=GPU:7") == everything
    assert selected(mnist_run, "execution", "device=GPU:7") == []


def test_a_gradient_is_also_of_the_line_of_its_forward_op(tmp_path: Path) -> None:
    made = Program(tmp_path)
    made.graph("root", "")
    made.graph("f", "f", "root")
    ops = (("Sqrt", "x", 3), ("gradient_tape/SqrtGrad", "Sqrt:0", 9), ("Neg", "x", 5))
    for name, source, line in ops:
        made.op("f", name.rpartition("/")[2], name, source, line=line)
        made.trace("f", name, floats(1.0))
    run = made.open()
    for line, found in ((3, [0, 1]), (9, [1]), (5, [2])):
        assert selected(run, "graph_execution", f"line=program.py:{line}") == found
