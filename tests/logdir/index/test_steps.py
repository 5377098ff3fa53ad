"""Training steps: recorded, and counted where the program marked none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.diagnosis.tiny import Program
from tfdbg_tui.logdir.definitions.graphs import Graph, GraphOp
from tfdbg_tui.logdir.events import ExecutionKind
from tfdbg_tui.logdir.index.columns import Column, ColumnView
from tfdbg_tui.logdir.index.counted_steps import find_steps
from tfdbg_tui.logdir.index.steps import Steps
from tfdbg_tui.logdir.index.training_calls import differentiates

if TYPE_CHECKING:
    from pathlib import Path

LOAD, ADD, TRAIN, EVALUATE, BAD_TRAIN, TRAIN_AGAIN, MAKE, FETCH, BACKWARD = range(9)
RUN, RUN_FED, TRAIN_TOO = range(9, 12)

KINDS = [
    ExecutionKind(0, "Load", None, 1, 2),
    ExecutionKind(0, "AddV2", None, 1, 2),
    ExecutionKind(0, "__inference_train_7", "graph", 1, 2),
    ExecutionKind(0, "__inference_evaluate_9", "other graph", 1, 2),
    ExecutionKind(0, "__inference_train_7", "graph", 1, 4),  # as ADAPTIVE records a bad output
    ExecutionKind(0, "__inference_train_11", "third graph", 1, 2),
    ExecutionKind(0, "VarHandleOp", None, 1, 2),
    ExecutionKind(0, "IteratorGetNext", None, 1, 2),
    ExecutionKind(0, "__inference___backward_evaluate_9_21", "graph", 1, 2),
    ExecutionKind(0, "Session.run(loss, train)", "v1 graph", 1, 2),
    ExecutionKind(0, "Session.run(loss, train) #2", "v1 graph", 1, 2),
    ExecutionKind(0, "__inference_finetune_31", "graph", 1, 2),
]


GRADIENT = GraphOp("graph", "gradient_tape/MatMul", "MatMul", (), 1, (), (), (), 0, "", 0.0)
GRAPHS = {"graph": Graph("graph", "train", None, 0, {GRADIENT.name: GRADIENT})}


def _column(values: list[int]) -> ColumnView:
    column = Column()
    column.extend(values)
    return column.view()


def _steps(
    kinds: list[int],
    stacks: list[int] | None = None,
    recorded: list[int] | None = None,
    gradients: tuple[int, ...] = (),
    backward: tuple[int, ...] = (),
    *,
    by_fit: bool = False,
) -> Steps:
    zeros = [0] * len(kinds)
    columns = _column(recorded or zeros), _column(kinds), _column(stacks or zeros)
    is_backward = backward.__contains__
    return find_steps(*columns, KINDS, GRAPHS, gradients, is_backward, marked_by_fit=by_fit)


def _of_all(steps: Steps, count: int) -> list[int | None]:
    return [steps.of(execution) for execution in range(count)]


def test_recorded_steps_count_and_may_have_gaps() -> None:
    steps = _steps([ADD] * 6, recorded=[0, 11, 11, 0, 21, 21])
    assert steps.counted_by is None
    assert steps.numbers.tolist() == [10, 20]
    assert _of_all(steps, 6) == [None, 10, 10, None, 20, 20]


def test_the_function_called_most_often_is_called_once_a_step() -> None:
    steps = _steps([LOAD, TRAIN, ADD, TRAIN, EVALUATE, ADD, TRAIN])
    assert steps.counted_by == "__inference_train_7"
    assert _of_all(steps, 7) == [None, 0, 0, 1, 1, 1, 2]


def test_a_function_that_trains_comes_before_one_that_is_called_more_often() -> None:
    steps = _steps([LOAD, *[TRAIN, ADD] * 3, *[EVALUATE] * 5])
    assert steps.counted_by == "__inference_train_7"
    assert _of_all(steps, 12) == [None, 0, 0, 1, 1, 2, 2, *[None] * 5]


def test_loops_that_train_one_after_the_other_are_counted_on() -> None:
    """A pretraining and what comes after it; what is between, and an evaluation, is in no step."""
    pretrain, train = [TRAIN, ADD] * 3, [TRAIN_TOO] * 5
    steps = _steps(
        [LOAD, *pretrain, LOAD, *train, *[EVALUATE] * 6],
        stacks=[0, *[1, 2] * 3, 0, *[3] * 5, *[4] * 6],
    )
    assert steps.numbers.tolist() == [*range(8)]
    told = [None, 0, 0, 1, 1, 2, 2, None, 3, 4, 5, 6, 7, *[None] * 6]
    assert _of_all(steps, 19) == told


@pytest.mark.parametrize(
    ("after", "by_fit", "expected"),
    [
        (TRAIN_TOO, True, [None, 2, 3, 4, 5]),
        (EVALUATE, True, [None] * 5),  # it trains nothing
        (TRAIN_TOO, False, [None] * 5),  # the program says itself what its steps are
    ],
)
def test_a_loop_that_trains_after_fit_is_counted_on(
    after: int, by_fit: bool, expected: list[int | None]
) -> None:
    kinds = [TRAIN, TRAIN, LOAD, *[after] * 4]
    recorded = [1, 2, *[0] * 5]
    steps = _steps(kinds, [1, 1, 2, *[3] * 4], recorded, by_fit=by_fit)
    assert _of_all(steps, 7) == [0, 1, *expected]
    assert steps.counted_by == (KINDS[after].op_type if expected[-1] else None)


def test_nothing_is_counted_where_fit_has_begun_and_no_step_of_it_is_on_record() -> None:
    """As when a program is watched: the numbers would be those of batches."""
    assert not len(_steps([LOAD, *[ADD, ADD] * 4], by_fit=True))


def test_functions_that_take_turns_are_one_loop() -> None:
    steps = _steps([*[TRAIN, TRAIN, TRAIN_TOO] * 4], stacks=[*[1, 1, 2] * 4])
    assert (len(steps), steps.counted_by) == (8, "__inference_train_7")


def test_eager_loops_one_after_the_other_are_counted_on() -> None:
    first, second = ([LOAD, ADD], [1, 2]), ([FETCH, ADD, ADD], [3, 4, 5])
    kinds = [*first[0] * 4, *second[0] * 6]
    steps = _steps(kinds, stacks=[*first[1] * 4, *second[1] * 6], gradients=(2, 5))
    assert _of_all(steps, 26) == [n // 2 for n in range(8)] + [4 + n // 3 for n in range(18)]


def test_a_graph_trains_if_one_in_it_computes_gradients(tmp_path: Path) -> None:
    made = Program(tmp_path)
    for name, outer in (("train", ""), ("step", "train"), ("evaluate", ""), ("loop", "evaluate")):
        made.graph(name, name, outer)
    made.op("step", "MatMul", "gradient_tape/dense/MatMul")
    made.op("evaluate", "While", "while", calls=("loop",))
    made.op("loop", "MatMul", "dense/MatMul")
    graphs = made.open().graphs
    assert [name for name in graphs if differentiates(graphs, name)] == ["train", "step"]


def test_a_call_that_is_recorded_in_another_mode_counts_as_well() -> None:
    steps = _steps([LOAD, TRAIN, TRAIN, BAD_TRAIN, BAD_TRAIN])
    assert _of_all(steps, 5) == [None, 0, 1, 2, 3]


def test_the_traces_of_a_function_that_one_line_calls_count_together() -> None:
    kinds = [TRAIN, TRAIN, TRAIN_AGAIN, EVALUATE, TRAIN, TRAIN, TRAIN_AGAIN]
    steps = _steps(kinds, [7, 8, 8, 9, 8, 8, 8])  # TensorFlow has other frames in a first call
    assert _of_all(steps, 7) == [0, 1, 2, 2, 3, 4, 5]
    assert steps.counted_by == "__inference_train_7"
    other_function = _steps(kinds, [7, 8, 5, 9, 8, 8, 5])
    assert _of_all(other_function, 7) == [0, 1, 1, 1, 2, 3, 3]


def test_the_runs_of_a_session_that_one_line_makes_count_whatever_is_fed() -> None:
    steps = _steps([RUN, RUN_FED, RUN_FED, RUN_FED], [7] * 4)
    assert _of_all(steps, 4) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("trains", "expected"),
    [
        ("Session.run(adam)", [0, 1, 2, 3]),
        ("Session.run(loss, adam) #2", [0, 1, 2, 3]),
        ("Session.run(group_deps)", None),  # what it runs is not known
        ("Session.run(ada)", None),
    ],
)
def test_runs_that_step_an_optimizer_come_before_those_that_evaluate(
    tmp_path: Path, trains: str, expected: list[int] | None
) -> None:
    made = Program(tmp_path)
    made.graph("v1", "")
    made.op("v1", "Mul", "gradients/Mul", "x:0", "y:0")
    made.op("v1", "ApplyAdam", "adam/update_w/ApplyAdam", "w:0", "gradients/Mul:0")
    made.op("v1", "NoOp", "adam")
    for time in range(4):
        for op_type in (trains, *["Session.run(loss, accuracy)"] * 3):
            made.execution(op_type, [], {time: np.zeros(1, np.float32)}, "v1")
    steps = made.open().executions.steps
    if expected is None:
        assert steps.counted_by == "Session.run(loss, accuracy)"
    else:
        assert steps.counted_by == trains
        assert _of_all(steps, 16)[::4] == expected


def test_eager_ops_that_compute_gradients_come_before_functions_that_compute_none() -> None:
    """As those of `predict`, which are called more often, and eager ops that only show."""
    body = [(ADD, 2), (LOAD, 3), (ADD, 4)]  # the gradient is from line 4
    shown = [(EVALUATE, 6), *((ADD, line) for line in range(7, 17))]
    kinds, stacks = zip(*[(LOAD, 1), *body * 3, *shown * 7], strict=True)
    steps = _steps(list(kinds), list(stacks), gradients=(4,))
    assert _of_all(steps, 11) == [None, 0, 0, 0, 1, 1, 1, 2, 2, 2, None], "and then comes predict"
    assert steps.before(11) == 2
    assert len(steps) == 3
    assert len(_steps(list(kinds), list(stacks), gradients=(1,))) == 7, "once is no training"


def test_a_function_that_a_tape_differentiates_is_of_the_step_of_its_gradient() -> None:
    body = [(LOAD, 2), (EVALUATE, 3), (BACKWARD, 4)]
    kinds, stacks = zip(*body * 3, *[(EVALUATE, 5)] * 4, strict=True)
    assert _of_all(_steps(list(kinds), list(stacks), gradients=(4,)), 13) == [
        *[0] * 3,
        *[1] * 3,
        *[2] * 3,
        *[None] * 4,
    ]


def test_what_the_loop_executes_before_the_call_is_of_its_step() -> None:
    body = [(LOAD, 5), (ADD, 6), (TRAIN, 7), (ADD, 8)]
    rows = [(LOAD, 1), (ADD, 6), *body, *body, *body, (LOAD, 5)]  # ADD once before the loop
    steps = _steps([kind for kind, _ in rows], [stack for _, stack in rows])
    assert _of_all(steps, len(rows)) == [None, None, *[0] * 4, *[1] * 4, *[2] * 5]
    assert steps.counted_by == "__inference_train_7"


def test_a_function_that_the_loop_calls_before_is_of_its_step_from_its_first_call_on() -> None:
    """It is traced in the first one, whose stack is another one therefore."""
    rows = [(MAKE, 1), (EVALUATE, 2), (TRAIN, 3), *[(EVALUATE, 4), (TRAIN, 5)] * 3]
    steps = _steps([kind for kind, _ in rows], [stack for _, stack in rows])
    assert _of_all(steps, len(rows)) == [None, 0, 0, 1, 1, 2, 2, 3, 3]


def test_a_function_that_is_called_before_the_loop_is_of_the_step_before_it_there() -> None:
    rows = [(EVALUATE, 2), *[(TRAIN, 5), (EVALUATE, 4)] * 3]
    steps = _steps([kind for kind, _ in rows], [stack for _, stack in rows])
    assert _of_all(steps, len(rows)) == [None, 0, 0, 1, 1, 2, 2]


def test_without_functions_the_loop_with_the_most_lines_counts() -> None:
    body = [(ADD, 5), (LOAD, 6), (ADD, 7)]  # each from a line of its own
    inner = [(ADD, 9)] * 4  # a loop of one line within it, run more often
    rows = [(LOAD, 1)] + (body + inner) * 3
    steps = _steps([kind for kind, _ in rows], [stack for _, stack in rows])
    assert steps.counted_by == "AddV2"
    assert len(steps) == 3
    assert _of_all(steps, len(rows))[:9] == [None, *[0] * 7, 1]


def test_a_loop_without_functions_ends_with_what_its_lines_execute_last() -> None:
    body = [(ADD, 5), (LOAD, 6), (ADD, 7), (ADD, 8)]
    rows = [(LOAD, 1), *body * 4, (ADD, 9), (LOAD, 10)]
    kinds, stacks = zip(*rows, strict=True)
    steps = _steps(list(kinds), list(stacks), gradients=(7,))
    assert _of_all(steps, len(rows))[-6:] == [3, 3, 3, 3, None, None]
    assert steps.before(len(rows) - 1) == 3


def test_a_loop_that_computes_no_gradients_is_none_that_trains() -> None:
    """After the training another loop has more lines, and runs on."""
    trains, other = [1, 2, 3], [11, 12, 13, 14, 15]
    stacks = trains * 4 + [21, 3, *other * 4]
    steps = _steps([ADD] * len(stacks), stacks, gradients=(3,))
    assert steps.numbers.tolist() == [0, 1, 2, 3]
    assert [steps.first_execution(number) for number in range(4)] == [0, 3, 6, 9]


def test_loops_of_as_many_lines_within_the_training_loop_are_part_of_a_step() -> None:
    model = [(LOAD, 5), (ADD, 6), (ADD, 7)]
    optimizer = [(ADD, 9), (LOAD, 10), (ADD, 11)]
    rows = [(LOAD, 1)] + (model * 2 + [(ADD, 8)] + optimizer * 3) * 4
    steps = _steps([kind for kind, _ in rows], [stack for _, stack in rows])
    assert _of_all(steps, len(rows)) == [None, *[0] * 16, *[1] * 16, *[2] * 16, *[3] * 16]
    one_after_the_other = (model * 4) + optimizer * 5
    steps = _steps([kind for kind, _ in one_after_the_other], [s for _, s in one_after_the_other])
    assert _of_all(steps, 27)[:7] == [0, 0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize("sentences", [3, 5])
def test_words_of_a_sentence_are_no_steps(sentences: int) -> None:
    words, gradients = [(ADD, 5), (ADD, 6), (ADD, 7)] * 4, [(ADD, 8), (ADD, 9)] * 4
    kinds, stacks = zip(*([(LOAD, 1), *words, *gradients, (ADD, 10)] * sentences), strict=True)
    steps = _steps(list(kinds), list(stacks), gradients=(9,), backward=(8, 9))
    assert _of_all(steps, len(kinds)) == np.repeat(range(sentences), 22).tolist()


def test_ops_up_to_the_first_gradient_are_in_no_step() -> None:
    before = [1, 2, 3] * 3
    steps = _steps([ADD] * 13, [*before, 9, 9, 9, 9], gradients=(9,))
    assert _of_all(steps, 13) == [*[None] * 9, 0, 1, 2, 3]


def test_a_step_begins_with_what_is_executed_several_times_in_it() -> None:
    """Two inputs go through the same layers, whose results one line compares."""
    layers, compared = [(LOAD, 1), (ADD, 2)] * 2, [(ADD, line) for line in (3, 4, 5)]
    gradients = [(ADD, 8), (ADD, 9)]
    kinds, stacks = zip(*([(LOAD, 0), *(layers + compared + gradients) * 5]), strict=True)
    steps = _steps(list(kinds), list(stacks), gradients=(9,), backward=(8, 9))
    assert _of_all(steps, len(kinds)) == [None, *np.repeat(range(5), 9).tolist()]


def test_epochs_and_what_is_shown_now_and_then_are_no_steps() -> None:
    begin = [(ADD, line) for line in (20, 21)]
    batch = [(FETCH, 1), *((ADD, line) for line in (2, 3))]
    shown = [(ADD, line) for line in (30, 31)]
    kinds, stacks = zip(*(begin + batch * 4 + shown) * 3, strict=True)
    steps = _steps(list(kinds), list(stacks))
    assert steps.counted_by == "IteratorGetNext"
    assert len(steps) == 12


def test_a_loop_after_many_ops_that_are_executed_a_multiple_of_its_times() -> None:
    before = [line for line in range(101) for _ in range(6)]
    loop = [*range(200, 350)] * 3
    steps = _steps([ADD] * (len(before) + len(loop)), before + loop)
    told = [None] * len(before) + np.repeat(range(3), 150).tolist()
    assert _of_all(steps, len(told)) == told


@pytest.mark.parametrize("kinds", [[], [ADD], [LOAD, ADD, TRAIN], [*[MAKE] * 4, ADD, TRAIN, TRAIN]])
def test_what_does_not_repeat_has_no_steps(kinds: list[int]) -> None:
    """Variables are made in a loop as well, as an optimizer's are."""
    steps = _steps(kinds, kinds)
    assert len(steps) == 0
    assert _of_all(steps, len(kinds)) == [None] * len(kinds)


def test_the_slots_of_an_optimizer_are_made_in_no_steps() -> None:
    """Each has a first value, which is assigned to it."""
    made = [(ADD, 1), (MAKE, 2), (LOAD, 3)] * 4
    training = [(TRAIN, 5), (ADD, 6), (ADD, 7), (ADD, 8)] * 2
    kinds, stacks = zip(*(made + training), strict=True)
    assert len(_steps(list(kinds), list(stacks))) == 0


def test_first_values_of_one_line_are_no_steps() -> None:
    """Each is made by several ops, between which that of the variable stands."""
    made = [(LOAD, 1), (ADD, 1), (MAKE, 1)] * 3 + [(LOAD, 1), (ADD, 1)]
    training = [(TRAIN, 5), *((ADD, line) for line in range(6, 16))] * 2
    kinds, stacks = zip(*(made + training), strict=True)
    assert len(_steps(list(kinds), list(stacks))) == 0


def test_going_from_step_to_step() -> None:
    steps = Steps(np.array([-1, 3, 3, -1, 5, 5, 9]))
    assert steps.first_execution(5) == 4
    assert steps.first_execution(4) is None
    assert [steps.next_execution(row, 1) for row in range(7)] == [1, 4, 4, 4, 6, 6, None]
    assert [steps.next_execution(row, -1) for row in range(7)] == [None, None, None, 1, 1, 1, 4]
