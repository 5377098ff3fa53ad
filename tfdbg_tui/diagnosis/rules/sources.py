"""Bad values that come in from outside: no op of the program has computed them."""

from __future__ import annotations

import re
from dataclasses import replace

from tfdbg_tui.diagnosis.dataflow.variables import computes, sets
from tfdbg_tui.diagnosis.events import UNKNOWN_OP
from tfdbg_tui.diagnosis.op_traits import MOVES
from tfdbg_tui.diagnosis.rules.conditions import (
    also,
    amount,
    bad_out,
    bad_values,
    comes_in,
    either,
    made_by,
    used_by,
)
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given, unrecorded, updating
from tfdbg_tui.diagnosis.rules.model import Case, Certainty, Match, Rule, User, ops
from tfdbg_tui.diagnosis.values import total

_TAKES_DEFAULTS = re.compile(r"CSV|ParseExample|ParseSingleExample|Dataset")
"""Matches in types of ops that read data, and take what stands for a value that is missing."""

_MADE_OF_TENSORS = ops("SparseTensorSliceDataset", "TensorDataset", "TensorSliceDataset")

_CHECK_DATA = (
    "Check the data, the targets as well (np.isfinite(x).all(), np.isfinite(y).all()), fill or "
    "drop what is missing, or filter it in the pipeline: dataset.filter(lambda x, y: "
    "tf.reduce_all(tf.math.is_finite(x)))."
)
_OF_FIT = "grab_batch"
"""Part of the name of Keras' function that takes a batch of all arrays (`ArrayDataAdapter`)."""
_ARRAY = re.compile(r"args_([1-9]\d*)")
"""Its arguments; the first, number 0, is which elements to take."""

_READS = ops("ReadVariableOp", "ResourceGather")
_EVERY = re.compile(r"\bevery=(\d+)")
_ONE_IN = r"one step in \1 (every=\1)"
_ORIGINS = ops("Const", "Fill", "RestoreV2", "Restore", "ReadFile")
"""Ops whose results come from no other op."""


def _holds_data(case: Case) -> bool:
    """Condition: the elements of a data set are slices of the result, or all of it."""
    return any(user.op_type in _MADE_OF_TENSORS for user in case.users)


def _fills_in(case: Case) -> bool:
    """Condition: the result is a default for what is missing in data, or padding."""
    return any(_TAKES_DEFAULTS.search(user.op_type) for user in case.users)


def _is_element(case: Case) -> bool:
    """Condition: an argument is not the state that the program has given for the first element."""
    return all(given.op_type is not None for given in case.inputs)


def _given_to_pipeline(case: Case) -> Match | None:
    """Test for: bad elements of data; which of its arrays holds them, if it is those of `fit`."""
    array = _ARRAY.fullmatch(case.op_name or "") if _OF_FIT in case.graph_name else None
    if array is None:
        return comes_in("they were given to the input pipeline")(case)
    return comes_in(
        f"they are in number {array[1]} of the arrays that fit was given: x, then y, then "
        "sample_weight (several, where x or y is of several)"
    )(case)


def _moved_in(case: Case) -> Match | None:
    if not case.open:
        return None
    return Match(
        "likely", f"{bad_out(case)} elements; this op makes none of finite ones: they came in"
    )


def _bits_of_no_record(case: Case) -> Match | None:
    """Test for: a tensor that no dump describes, as of integers, read as floating-point numbers."""
    given = case.input(0)
    if given is None or given.summary is not None:
        return None
    return Match("likely", f"{bad_out(case)} elements; the input left no record, as integers do")


def _came_in(case: Case) -> Match | None:
    if not case.open or case.function:
        return None
    if case.out.nan and not total(case.out, "pos_inf", "neg_inf"):
        given = [g for g in case.inputs if g.summary is None and g.op_type not in ("Const",)]
        names = ", ".join(g.name for g in given[:3]) or "an input"
        return Match("likely", f"{amount(case.out.nan, 'nan')} out; {names} left no record")
    return Match("likely", f"{bad_out(case)} out; an input left no record")


def _undescribed(case: Case) -> Match | None:
    if case.op_type != UNKNOWN_OP:
        return None
    return Match("observed", f"{bad_out(case)} out; the op's definition cannot be read")


def _given_bad(case: Case) -> Match | None:
    """Test for: bad values in a tensor that no recorded op has made."""
    for one in case.inputs:
        if one.op_type is None and one.summary is not None and one.summary.has_inf_or_nan:
            sentence = f"{bad_values(one.summary)} in: no op has computed that tensor"
            certainty: Certainty = "likely" if one.inferred else "proved"
            return Match(certainty, f"{sentence} → {bad_out(case)} out")
    return None


def _given_as_bad(case: Case) -> Match | None:
    """Test for: the same, and the op has made nothing worse of it: no NaN of ∞.

    Where recording was limited, or events were dropped, an op that is not on record may have
    computed it.
    """
    if case.limits or case.cut_off:
        return None
    given = [i.summary for i in case.inputs if i.op_type is None and i.summary is not None]
    with_nan = any(summary.nan for summary in given)
    return _given_bad(case) if with_nan or not case.out.nan else None


def _read(case: Case) -> str:
    """Return how many elements of a variable are bad, or of the rows of it that an op has read."""
    gathers = case.op_type in _READS and case.op_type != "ReadVariableOp"
    return f"{bad_out(case)} elements" + f" that {case.op_type} has read" * gathers


def _variable_before_first_event(case: Case) -> Match | None:
    if not case.open:
        return None
    return Match("likely", f"{_read(case)}; nothing recorded has assigned them")


def _changed_outside(case: Case) -> Match | None:
    """Test for: the same, where recording was limited."""
    match = _changed_unrecorded(case) if case.limits else None
    return replace(match, evidence=f"{match.evidence}; {_on_record(case)}") if match else None


def _on_record(case: Case) -> str:
    """Say what recording was limited to."""
    return f"only {_EVERY.sub(_ONE_IN, case.limits)} is on record"


def _changed_unrecorded(case: Case) -> Match | None:
    """Test for: a variable that was finite when it was read before."""
    match = _variable_before_first_event(case)
    if match is None or not case.healthy_before or case.cut_off:
        return None
    return Match("likely", f"{match.evidence}; read {case.healthy_before:,} times before, finite")


def _after_step(case: Case) -> Match | None:
    """Test for: a variable that an op like ResourceApplyAdam has changed."""
    step = next(iter(case.inputs), None)
    made_by = (step.updated_by or step.op_type or "") if step is not None else ""
    if case.op_type not in _READS or not computes(made_by):
        return None
    return Match("likely", f"{_read(case)} after {made_by}, finite before")


def _kept_by_step(case: Case) -> Match | None:
    """Test for: what such an op keeps beside the variable, or the op itself that takes it."""
    kept = [one for one in case.inputs if computes(one.updated_by or "") and not one.summary]
    if not kept or case.op_type in _READS:
        return None
    if computes(case.op_type):
        names = ", ".join(one.name for one in kept)
        return Match("likely", f"{bad_out(case)} out of {case.op_type}; {names} left no record")
    return Match("likely", f"{bad_out(case)} in what {kept[0].updated_by} keeps: {kept[0].name}")


def _after_update(case: Case) -> Match | None:
    """Test for: a variable that became infinite by an op that adds to it, or the like."""
    update = next(iter(case.inputs), None)
    if update is None or update.updated_by is None or case.out.nan:
        return None
    before = f", finite {case.healthy_before:,} times before" if case.healthy_before else ""
    return Match("likely", f"{_read(case)} after {update.updated_by}{before}")


def _after_assignment(case: Case) -> Match | None:
    """Test for: a variable that was last assigned a tensor that no recorded op has made."""
    assigned = [one for one in case.inputs if sets(one.op_type or "")]
    for one in assigned:
        if one.summary is not None and one.summary.has_inf_or_nan:
            held = f"{bad_values(one.summary)} in a variable after an assignment from Python"
            return Match("likely", f"{held} → {bad_out(case)} out")
    if not assigned or case.op_type not in _READS:
        return None
    return Match("likely", f"{_read(case)} after an assignment from Python")


def _from_outside(case: Case) -> Match | None:
    """Test for: bad values from what recording was not limited to.

    What changed a variable last, as far as is recorded, need not be what made it bad.
    """
    made_it = (_after_step, _kept_by_step, _after_update)
    is_changed = any(one.updated_by for one in case.inputs) and any(test(case) for test in made_it)
    is_given_bad = _given_bad(case) is not None
    if not case.limits or is_changed or case.op_type in _ORIGINS or _changed_outside(case):
        return None
    if not case.open and not is_given_bad:
        return None
    return Match("observed", f"{bad_out(case)} elements; {_on_record(case)}")


BAD_ARRAY = Rule(
    id="bad-array",
    title="NaN or ∞ in an array given to TensorFlow",
    op_types=frozenset(),
    test=_given_as_bad,
    why="The tensor comes from Python: a NumPy array, a number, or a variable's value.",
    fix="Check what is passed in: np.isfinite(x).all().",
    example=example("MatMul", given(NAN, 1), given(1, 1), out=[NAN]),
)
"""Asked before all others: whatever the op does, it was given what is bad."""


def _before_first_event(case: Case) -> Match | None:
    if not case.cut_off:
        return None
    if case.open or case.function:
        return Match("observed", f"{bad_out(case)} in the first execution that the buffer has kept")
    if _given_bad(case) is not None:
        return Match(
            "observed", f"{bad_out(case)}, of a tensor from before what the buffer has kept"
        )
    return None


BEFORE_FIRST_EVENT = Rule(
    id="before-first-event",
    title="NaN or ∞ from before the first recorded event",
    op_types=frozenset(),
    test=_before_first_event,
    why="A circular buffer keeps only the last events: what made the first bad tensor was dropped.",
    fix="Record from the start, with circular_buffer_size=-1; or with keep_after_bad, which "
    "freezes the buffer soon after the first bad tensor.",
    example=example("ReadVariableOp", unrecorded(), out=[NAN], cut_off=True),
)
"""Asked before all others, too: what else there is to say is of what came after."""

RULES = (
    Rule(
        id="bad-data",
        title="NaN or ∞ in the data",
        op_types=ops(
            "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional",
            "MultiDeviceIteratorGetNextFromShard", "DatasetToSingleElement", "GeneratorDataset",
        ),
        test=comes_in("the data set yields them, the program has computed nothing yet"),
        why="The input pipeline delivers values that are not finite: missing entries read as NaN, "
        "or a normalisation before the pipeline that divided by 0.",
        fix=_CHECK_DATA,
        example=example("IteratorGetNext", out=[NAN, 1]),
    ),
    Rule(
        id="bad-data-of-iterator",
        title="NaN or ∞ in the data",
        op_types=ops("OptionalGetValue"),
        test=also(
            comes_in("the data set yields them, the program has computed nothing yet"),
            made_by("IteratorGetNextAsOptional"),
        ),
        why="The input pipeline delivers values that are not finite.",
        fix="Check the data (np.isfinite(x).all()), fill or drop what is missing.",
        example=example(
            "OptionalGetValue", unrecorded(by="IteratorGetNextAsOptional"), out=[NAN, 1],
        ),
    ),
    Rule(
        id="bad-sparse-or-ragged-data",
        title="NaN or ∞ in sparse or ragged data",
        op_types=ops("DeserializeSparse", "DeserializeManySparse", "RaggedTensorFromVariant"),
        test=comes_in("they are in a sparse or ragged tensor of a data set or a map"),
        why="The values that the tensor was made of are not finite.",
        fix="Check the data (np.isfinite(x).all()), fill or drop what is missing.",
        example=example("DeserializeSparse", out=[NAN, 1]),
    ),
    Rule(
        id="bad-parsed-value",
        title="NaN or ∞ in data that was parsed",
        op_types=ops("DecodeCSV", "ParseExampleV2", "DecodeRaw", "StringToNumber", "ParseTensor"),
        test=comes_in("they were read from text or bytes"),
        why="The text says 'nan' or 'inf', or the bytes are those of such a number or of another "
        "type.",
        fix="Check the files; fill or drop what is missing: tf.where(tf.math.is_finite(x), x, "
        "0.0).",
        example=example("StringToNumber", out=[NAN, 2]),
    ),
    Rule(
        id="bad-table-value",
        title="NaN or ∞ out of a lookup table",
        op_types=ops(
            "LookupTableFindV2", "LookupTableFind", "LookupTableExportV2", "LookupTableExport",
        ),
        test=comes_in("a lookup table gave them"),
        why="The key is missing and the table's default value is not finite, or the entry is not.",
        fix="Check the keys, or give the table a finite default_value.",
        example=example("LookupTableFindV2", out=[NAN, 2]),
    ),
    Rule(
        id="bad-queue-value",
        title="NaN or ∞ out of a queue or another container",
        op_types=ops(
            "QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "Unstage", "StagePeek",
            "MapUnstage", "MapPeek", "OrderedMapUnstage", "OrderedMapPeek", "BarrierTakeMany",
            "AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient",
            "SparseAccumulatorTakeGradient", "TensorMapLookup",
        ),
        test=comes_in("it passes on what was put into it"),
        why="What was put into it was not finite.",
        fix="Check what is put into it.",
        example=example("QueueDequeueV2", out=[NAN, 2]),
    ),
    Rule(
        id="bad-python-value",
        title="NaN or ∞ from Python code",
        op_types=ops("PyFunc", "EagerPyFunc", "PyFuncStateless"),
        test=comes_in("a Python function returned them", "likely"),
        why="The op runs Python code that returned values that are not finite.",
        fix="Check the Python function.",
        example=example("PyFunc", out=[NAN, 2]),
    ),
    Rule(
        id="bad-pipeline-input",
        title="NaN or ∞ in the data",
        op_types=ops("Placeholder", "PlaceholderWithDefault"),
        test=also(
            _given_to_pipeline,
            lambda case: case.graph_name.startswith("Dataset_"),
            _is_element,
        ),
        why="The arrays or files behind the data set hold values that are not finite: missing "
        "entries read as NaN, or a normalisation before the pipeline that divided by 0.",
        fix=_CHECK_DATA,
        example=example("Placeholder", out=[NAN, 2], graph_name="Dataset_map_12"),
    ),
    Rule(
        id="from-outside-of-limits",
        title="NaN or ∞ from what was not recorded",
        op_types=frozenset(),
        test=_from_outside,
        why="Recording was limited to some layers, functions, lines or steps, or paused, and the "
        "values come from what was not recorded, or from what was computed of that.",
        fix="Record again without the limit or the pause, or with a wider limit.",
        example=example("Reshape", unrecorded(), out=[NAN, 1], limits="layers=encoder"),
    ),
    Rule(
        id="bad-feed",
        title="NaN or ∞ was fed",
        op_types=ops("Placeholder"),
        test=also(
            comes_in("they were fed to the session", "likely"),
            lambda case: not case.graph_name,
        ),
        why="What feed_dict gives for the placeholder was not finite.",
        fix="Check what is fed: np.isfinite(x).all().",
        example=example("Placeholder", out=[NAN, 2]),
    ),
    Rule(
        id="bad-argument",
        title="NaN or ∞ in a function's argument",
        op_types=ops("Placeholder", "PlaceholderWithDefault"),
        test=comes_in("they were given to the function as an argument", "likely"),
        why="The values were not finite before the function was called: data, or the result of "
        "code that was not recorded.",
        fix="Check what is passed in: np.isfinite(x).all().",
        example=example("Placeholder", out=[NAN, 2], graph_name="train_step"),
    ),
    Rule(
        id="bad-data-of-constant",
        title="NaN or ∞ in the data",
        op_types=ops("Const"),
        test=also(comes_in("a data set is made of them"), _holds_data),
        why="The array that the data set was made of holds values that are not finite: missing "
        "entries read as NaN, or a normalisation that divided by 0.",
        fix="Check the data (np.isfinite(x).all()), fill or drop what is missing, or filter it in "
        "the pipeline: dataset.filter(lambda x, y: tf.reduce_all(tf.math.is_finite(x))).",
        example=example("Const", out=[NAN, 1], users=(User("TensorSliceDataset"),)),
    ),
    Rule(
        id="bad-default",
        title="Missing values are NaN or ∞",
        op_types=ops("Const"),
        test=also(comes_in("the program gives them to whatever is missing in its data"), _fills_in),
        why="A field or an element that is missing gets a default, or padding, that is not finite.",
        fix="Look for empty fields in the data: leave them out, or give a finite default.",
        example=example("Const", out=[NAN], users=(User("CSVDatasetV2"),)),
    ),
    Rule(
        id="bad-constant",
        title="Constant with NaN or ∞",
        op_types=ops("Const"),
        test=comes_in("the program wrote them down as a constant, or captured a NumPy array"),
        why="A literal, or an array captured by the function, holds values that are not finite.",
        fix="Check the constant; for a mask use a large finite number instead of -∞.",
        example=example("Const", out=[-INF, 0]),
    ),
    Rule(
        id="bad-fill",
        title="Tensor filled with NaN or ∞",
        op_types=ops("Fill"),
        test=comes_in("the tensor is filled with one value, which is not finite"),
        why="tf.fill, tf.ones or an initializer was given a value that is not finite.",
        fix="Check the fill value.",
        example=example("Fill", out=[-INF, -INF]),
    ),
    Rule(
        id="optimizer-step",
        title="The optimizer's step made the variable bad",
        op_types=frozenset(),
        test=either(_after_step, _kept_by_step),
        why="The op that made the step is one whole: with an epsilon of 0 it divides by 0 where "
        "the "
        "gradient is 0, and a gradient or learning rate that is too large overflows in it. Where "
        "it keeps squares of gradients, that of one above 1.8e19 is ∞ from then on, and the "
        "variable may be NaN a step later.",
        fix="Give the optimizer an epsilon above 0, clip the gradients, lower the learning rate.",
        example=example("ReadVariableOp", unrecorded(by="ResourceApplyAdam"), out=[NAN, 1]),
    ),
    Rule(
        id="assigned-bad",
        title="Variable was assigned NaN or ∞ by Python",
        op_types=frozenset(),
        test=_after_assignment,
        why="Weights that were loaded, set or initialised with values that are not finite.",
        fix="Check what is assigned: np.isfinite(x).all(); go back to an earlier checkpoint.",
        example=example("ReadVariableOp", unrecorded(by="AssignVariableOp"), out=[NAN, 1]),
    ),
    Rule(
        id="variable-overflow",
        title="Variable overflowed when it was updated",
        op_types=_READS,
        test=_after_update,
        why="What was added to it, or subtracted from it, is not infinite, as far as is recorded; "
        "the result is beyond the largest number of its type.",
        fix="Reset it in time, or keep a mean in place of a sum; where it is a weight, lower the "
        "learning rate.",
        float64_helps=True,
        example=example(
            "ReadVariableOp", updating(1e38, by="AssignAddVariableOp"), out=[INF], healthy_before=3,
        ),
    ),
    Rule(
        id="changed-outside-of-limits",
        title="Variable was made NaN or ∞ by what was not recorded",
        op_types=_READS,
        test=_changed_outside,
        why="Recording was limited to some steps, layers, functions or lines, or paused. The "
        "variable was finite when it was read before, and has been changed outside of these since.",
        fix="Record again without the limit or the pause.",
        example=example(
            "ReadVariableOp", unrecorded(), updating(0.5, by="AssignSubVariableOp"), out=[NAN, 1],
            healthy_before=3, limits="every=5",
        ),
    ),
    Rule(
        id="variable-changed-unrecorded",
        title="Variable was made bad by something that left no record",
        op_types=_READS,
        test=_changed_unrecorded,
        why="The variable was finite before. Another thread has changed it, or a function or an op "
        "that the dump does not hold.",
        fix="Record with tfdbg_tui.enable_dump_debug_info, which follows all threads, and without "
        "filters.",
        example=example("ReadVariableOp", unrecorded(), out=[NAN, 1], healthy_before=3),
    ),
    Rule(
        id="bad-variable",
        title="Variable that held NaN or ∞ before anything was recorded",
        op_types=ops("ReadVariableOp", "VarHandleOp", "ResourceGather", "VariableV2"),
        test=_variable_before_first_event,
        why="No recorded op has assigned these values: the initial value or a loaded checkpoint "
        "holds "
        "them, or the assignment was before the first recorded event (a circular buffer keeps "
        "only the last ones).",
        fix="Check the initializer or checkpoint; record from the start, with "
        "circular_buffer_size=-1.",
        example=example("ReadVariableOp", unrecorded(), out=[NAN, 1]),
    ),
    Rule(
        id="restored-bad",
        title="Checkpoint with NaN or ∞",
        op_types=ops("RestoreV2", "Restore", "ReadFile"),
        test=comes_in("they were read from a checkpoint"),
        why="The checkpoint was saved after training had gone wrong.",
        fix="Go back to an earlier checkpoint.",
        example=example("RestoreV2", out=[NAN, 1]),
    ),
    Rule(
        id="function-of-bad-array",
        title="∞ in an array given to TensorFlow",
        op_types=frozenset(),
        test=_given_bad,
        why="The tensor comes from Python: a NumPy array, a number, or a variable's value.",
        fix="Check what is passed in: np.isfinite(x).all().",
        example=example("MatMul", given(INF, -INF), given(1, 1), out=[NAN]),
    ),
    Rule(
        id="undescribed-op",
        title="First seen here, in an op that is not described",
        op_types=frozenset(),
        test=_undescribed,
        why="Which op made it, and of what, is not known. All later bad values in functions may be "
        "consequences of it.",
        fix="Look whether the logdir is complete, with its files .graphs and .stack_frames; else "
        "record again.",
        example=example(UNKNOWN_OP, out=[NAN]),
    ),
    Rule(
        id="bad-initial-value",
        title="NaN or ∞ in the initial value of a variable",
        op_types=frozenset(),
        test=also(_came_in, used_by("AssignVariableOp")),
        why="An initializer was given a number that is not finite, or one for which it gives none.",
        fix="Check the initializer and its arguments.",
        example=example(
            "Mul", unrecorded(), given(0.1), out=[NAN], users=(User("AssignVariableOp"),),
        ),
    ),
    Rule(
        id="bad-bits",
        title="Bits that are those of NaN or ∞ were read as floating-point numbers",
        op_types=ops("Bitcast"),
        test=_bits_of_no_record,
        why="tf.bitcast takes the bits as they are: those of integers, of another type or in "
        "another byte order may be NaN or ∞.",
        fix="tf.cast converts numbers. Where the bits are meant, check their type and byte order.",
        example=example("Bitcast", unrecorded(), out=[NAN, 1]),
    ),
    Rule(
        id="bad-input-passed-on",
        title="NaN or ∞ came in through an input that left no record",
        op_types=MOVES - ops("Placeholder", "ReadVariableOp", "IteratorGetNext", "Fill"),
        test=_moved_in,
        why="This op only moves or clips values; the tensor it got was bad before: data passed "
        "from Python, a variable's initial value, or something that was not recorded.",
        fix="Check what is passed in (np.isfinite(x).all()) and the variables' initial values.",
        example=example("Reshape", unrecorded(), out=[NAN, 1]),
    ),
    Rule(
        id="bad-input",
        title="NaN or ∞, most likely from an input that left no record",
        op_types=frozenset(),
        test=_came_in,
        why="An input of the op comes from Python (data, a constant) or from something that was "
        "not recorded. It held the bad value, or a value for which this op gives one.",
        fix="Check what is passed in: np.isfinite(x).all().",
        example=example("Mul", unrecorded(), given(0.1), out=[NAN]),
    ),
)  # fmt: skip
"""Rules about values from outside."""
