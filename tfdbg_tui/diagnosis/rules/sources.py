"""Bad values that come in from outside: no op of the program has computed them."""

from __future__ import annotations

from tfdbg_tui.diagnosis.dataflow.variables import computes
from tfdbg_tui.diagnosis.op_traits import MOVES
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    amount,
    bad_out,
    bad_values,
    comes_in,
    made_by,
    used_by,
)
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops
from tfdbg_tui.diagnosis.values import total


def _moved_in(case: Case) -> Match | None:
    if not case.open:
        return None
    return Match(
        "likely", f"{bad_out(case)} elements; this op makes none of finite ones: they came in"
    )


def _came_in(case: Case) -> Match | None:
    if not case.open or case.function:
        return None
    if case.out.nan and not total(case.out, "pos_inf", "neg_inf"):
        given = [g for g in case.inputs if g.summary is None and g.op_type not in ("Const",)]
        names = ", ".join(g.name for g in given[:3]) or "an input"
        return Match("likely", f"{amount(case.out.nan, 'nan')} out; {names} left no record")
    return Match("likely", f"{bad_out(case)} out; an input left no record")


def _given_bad(case: Case) -> Match | None:
    """Test for: bad values in a tensor that no recorded op has made."""
    for given in case.inputs:
        if given.op_type is None and given.summary is not None and given.summary.has_inf_or_nan:
            sentence = f"{bad_values(given.summary)} in: no op has computed that tensor"
            return Match("proved", f"{sentence} → {bad_out(case)} out")
    return None


def _given_as_bad(case: Case) -> Match | None:
    """Test for: the same, and the op has made nothing worse of it: no NaN of ∞."""
    given = [i.summary for i in case.inputs if i.op_type is None and i.summary is not None]
    with_nan = any(summary.nan for summary in given)
    return _given_bad(case) if with_nan or not case.out.nan else None


def _variable_before_first_event(case: Case) -> Match | None:
    if not case.open:
        return None
    return Match("likely", f"{bad_out(case)} elements; nothing recorded has assigned them")


def _changed_unrecorded(case: Case) -> Match | None:
    """Test for: a variable that was finite when it was read before."""
    match = _variable_before_first_event(case)
    if match is None or not case.healthy_before or case.cut_off:
        return None
    return Match("likely", f"{match.evidence}; read {case.healthy_before:,} times before, finite")


def _after_step(case: Case) -> Match | None:
    """Test for: a variable that an op like ResourceApplyAdam has changed."""
    step = next(iter(case.inputs), None)
    if step is None or not computes(step.op_type or ""):
        return None
    return Match("likely", f"{bad_out(case)} elements after {step.op_type}, finite before")


def _after_assignment(case: Case) -> Match | None:
    """Test for: a variable that was last assigned a tensor that no recorded op has made."""
    assignment = next(iter(case.inputs), None)
    if assignment is None or assignment.op_type != "AssignVariableOp":
        return None
    return Match("likely", f"{bad_out(case)} elements after an assignment from Python")


BAD_ARRAY = Rule(
    "bad-array",
    "NaN or ∞ in an array given to TensorFlow",
    frozenset(),
    _given_as_bad,
    "The tensor comes from Python: a NumPy array, a number, or a variable's value.",
    "Check what is passed in: np.isfinite(x).all().",
)
"""Asked before all others: whatever the op does, it was given what is bad."""


def _before_first_event(case: Case) -> Match | None:
    if not case.cut_off or not (case.open or case.function):
        return None
    return Match("observed", f"{bad_out(case)} in the first execution that the buffer has kept")


BEFORE_FIRST_EVENT = Rule(
    "before-first-event",
    "NaN or ∞ from before the first recorded event",
    frozenset(),
    _before_first_event,
    "A circular buffer keeps only the last events: what made the first bad tensor was dropped.",
    "Record from the start, with circular_buffer_size=-1; or with keep_after_bad, which freezes "
    "the buffer soon after the first bad tensor.",
)
"""Asked before all others, too: what else there is to say is of what came after."""

RULES = (
    Rule(
        "bad-data",
        "NaN or ∞ in the data",
        ops(
            "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional",
            "MultiDeviceIteratorGetNextFromShard", "DatasetToSingleElement", "GeneratorDataset",
        ),
        comes_in("the data set yields them, the program has computed nothing yet"),
        "The input pipeline delivers values that are not finite: missing entries read as NaN, or a "
        "normalisation before the pipeline that divided by 0.",
        "Check the data (np.isfinite(x).all()), fill or drop what is missing, or filter it in the "
        "pipeline: dataset.filter(lambda x, y: tf.reduce_all(tf.math.is_finite(x))).",
    ),
    Rule(
        "bad-data-of-iterator",
        "NaN or ∞ in the data",
        ops("OptionalGetValue"),
        also(
            comes_in("the data set yields them, the program has computed nothing yet"),
            made_by("IteratorGetNextAsOptional"),
        ),
        "The input pipeline delivers values that are not finite.",
        "Check the data (np.isfinite(x).all()), fill or drop what is missing.",
    ),
    Rule(
        "bad-parsed-value",
        "NaN or ∞ in data that was parsed",
        ops("DecodeCSV", "ParseExampleV2", "DecodeRaw", "StringToNumber", "ParseTensor"),
        comes_in("they were read from text or bytes"),
        "The text says 'nan' or 'inf', or the bytes are those of such a number or of another type.",
        "Check the files; fill or drop what is missing: tf.where(tf.math.is_finite(x), x, 0.0).",
    ),
    Rule(
        "bad-table-value",
        "NaN or ∞ out of a lookup table",
        ops("LookupTableFindV2", "LookupTableFind"),
        comes_in("a lookup table gave them"),
        "The key is missing and the table's default value is not finite, or the entry is not.",
        "Check the keys, or give the table a finite default_value.",
    ),
    Rule(
        "bad-queue-value",
        "NaN or ∞ out of a queue",
        ops("QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "Unstage", "MapUnstage"),
        comes_in("a queue passes on what was put into it"),
        "What was put into the queue was not finite.",
        "Check what is enqueued.",
    ),
    Rule(
        "bad-python-value",
        "NaN or ∞ from Python code",
        ops("PyFunc", "EagerPyFunc", "PyFuncStateless"),
        comes_in("a Python function returned them", "likely"),
        "The op runs Python code that returned values that are not finite.",
        "Check the Python function.",
    ),
    Rule(
        "bad-pipeline-input",
        "NaN or ∞ in the data",
        ops("Placeholder", "PlaceholderWithDefault"),
        also(
            comes_in("they were given to the input pipeline"),
            lambda case: case.graph_name.startswith("Dataset_"),
        ),
        "The arrays or files behind the data set hold values that are not finite: missing entries "
        "read as NaN, or a normalisation before the pipeline that divided by 0.",
        "Check the data (np.isfinite(x).all()), fill or drop what is missing, or filter it in the "
        "pipeline: dataset.filter(lambda x, y: tf.reduce_all(tf.math.is_finite(x))).",
    ),
    Rule(
        "bad-argument",
        "NaN or ∞ in a function's argument",
        ops("Placeholder", "PlaceholderWithDefault"),
        comes_in("they were given to the function as an argument", "likely"),
        "The values were not finite before the function was called: data, or the result of code "
        "that was not recorded.",
        "Check what is passed in: np.isfinite(x).all().",
    ),
    Rule(
        "bad-constant",
        "Constant with NaN or ∞",
        ops("Const"),
        comes_in("the program wrote them down as a constant, or captured a NumPy array"),
        "A literal, or an array captured by the function, holds values that are not finite.",
        "Check the constant; for a mask use a large finite number instead of -∞.",
    ),
    Rule(
        "bad-fill",
        "Tensor filled with NaN or ∞",
        ops("Fill"),
        comes_in("the tensor is filled with one value, which is not finite"),
        "tf.fill, tf.ones or an initializer was given a value that is not finite.",
        "Check the fill value.",
    ),
    Rule(
        "optimizer-step",
        "The optimizer's step made the variable bad",
        ops("ReadVariableOp", "ResourceGather"),
        _after_step,
        "The op that made the step is one whole: with an epsilon of 0 it divides by 0 where the "
        "gradient is 0, and a gradient or learning rate that is too large overflows in it.",
        "Give the optimizer an epsilon above 0, clip the gradients, lower the learning rate.",
    ),
    Rule(
        "assigned-bad",
        "Variable was assigned NaN or ∞ by Python",
        ops("ReadVariableOp", "ResourceGather"),
        _after_assignment,
        "Weights that were loaded, set or initialised with values that are not finite.",
        "Check what is assigned: np.isfinite(x).all(); go back to an earlier checkpoint.",
    ),
    Rule(
        "variable-changed-unrecorded",
        "Variable was made bad by something that left no record",
        ops("ReadVariableOp", "ResourceGather"),
        _changed_unrecorded,
        "The variable was finite before. Another thread has changed it, or a function or an op "
        "that the dump does not hold.",
        "Record with tfdbg_tui.enable_dump_debug_info, which follows all threads, and without "
        "filters.",
    ),
    Rule(
        "bad-variable",
        "Variable that held NaN or ∞ before anything was recorded",
        ops("ReadVariableOp", "VarHandleOp", "ResourceGather", "VariableV2"),
        _variable_before_first_event,
        "No recorded op has assigned these values: the initial value or a loaded checkpoint holds "
        "them, or the assignment was before the first recorded event (a circular buffer keeps "
        "only the last ones).",
        "Check the initializer or checkpoint; record from the start, with "
        "circular_buffer_size=-1.",
    ),
    Rule(
        "restored-bad",
        "Checkpoint with NaN or ∞",
        ops("RestoreV2", "Restore", "ReadFile"),
        comes_in("they were read from a checkpoint"),
        "The checkpoint was saved after training had gone wrong.",
        "Go back to an earlier checkpoint.",
    ),
    Rule(
        "function-of-bad-array",
        "∞ in an array given to TensorFlow",
        frozenset(),
        _given_bad,
        "The tensor comes from Python: a NumPy array, a number, or a variable's value.",
        "Check what is passed in: np.isfinite(x).all().",
    ),
    Rule(
        "bad-initial-value",
        "NaN or ∞ in the initial value of a variable",
        frozenset(),
        also(_came_in, used_by("AssignVariableOp")),
        "An initializer was given a number that is not finite, or one for which it gives none.",
        "Check the initializer and its arguments.",
    ),
    Rule(
        "bad-input-passed-on",
        "NaN or ∞ came in through an input that left no record",
        MOVES - ops("Placeholder", "ReadVariableOp", "IteratorGetNext", "Fill"),
        _moved_in,
        "This op only moves or clips values; the tensor it got was bad before: data passed from "
        "Python, a variable's initial value, or something that was not recorded.",
        "Check what is passed in (np.isfinite(x).all()) and the variables' initial values.",
    ),
    Rule(
        "bad-input",
        "NaN or ∞, most likely from an input that left no record",
        frozenset(),
        _came_in,
        "An input of the op comes from Python (data, a constant) or from something that was not "
        "recorded. It held the bad value, or a value for which this op gives one.",
        "Check what is passed in: np.isfinite(x).all().",
    ),
)  # fmt: skip
"""Rules about values from outside."""
