"""What a rule is, and what it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tfdbg_tui.diagnosis.rules.edits import Edit
    from tfdbg_tui.logdir import TensorSummary

Certainty = Literal["proved", "likely", "observed"]
"""How sure a cause is: forced by counts or by the op's definition; the usual reason; only seen."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the op that a rule looks at.

    Attributes:
        summary: What was recorded of it; None where nothing was.
        finite: Whether it is known to hold neither NaN nor ∞.
        inferred: Whether the link to it is a conclusion.
        name: The tensor's name.
        op_type: Type of the op that made it, where known.
        made_from: The same of that op's own inputs, two levels deep: for patterns of ops.
        updated_by: Type of the op that has computed what a variable holds from what it held and
            from this; None if the variable holds this.
    """

    summary: TensorSummary | None
    finite: bool
    inferred: bool
    name: str
    op_type: str | None
    made_from: tuple[Input, ...] = ()
    updated_by: str | None = None


class User(NamedTuple):
    """An op that uses the result.

    Attributes:
        op_type: Its type.
        slot: Which of its inputs the result is.
        others: Types of the ops that make its other inputs, and of those that they only reshape,
            convert or add to; "" where that is not known.
        then: What uses its own result: of these type and slot.
        name: Its name in its graph; "" where it has none.
    """

    op_type: str
    slot: int = 0
    others: frozenset[str] = frozenset()
    then: tuple[User, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Growth:
    """How the largest magnitude of a tensor grew, in each step on record, before it was bad.

    Attributes:
        first_step: The step that it has grown since.
        first: The largest magnitude then.
        last_step: The last step on record before it was bad.
        last: The largest magnitude then.
        expected: What it would be when measured next, if its factor goes on growing as it has.
        unit: What steps are: those of a training, the iterations of a loop, or the batches of a
            dataset that one call loops over.
    """

    first_step: int
    first: float
    last_step: int
    last: float
    expected: float = 0.0
    unit: Literal["step", "iteration", "batch"] = "step"

    def __str__(self) -> str:
        times = (self.last / self.first) ** (1 / (self.last_step - self.first_step))
        return (
            f"its largest magnitude grew from {self.first:.3g} in {self.unit} "
            f"{self.first_step:,} to {self.last:.3g} in {self.unit} {self.last_step:,}: "
            f"×{times:.3g} {'an' if self.unit == 'iteration' else 'a'} {self.unit}"
        )


@dataclass(frozen=True, slots=True)
class WeightGrowth:
    """How the weights grew of which that shows first, before something overflowed.

    Attributes:
        name: The variable that had grown most then.
        first_step: The first step in which it was measured.
        first: Its largest magnitude then.
        last_step: The first step in which any weights had grown.
        last: Its largest magnitude then.
        most: How many times what they were at first any weights have become, up to the overflow.
        changed_at: The line of the program that changes the variable; "" where that is not known.
    """

    name: str
    first_step: int
    first: float
    last_step: int
    last: float
    most: float = 1.0
    changed_at: str = ""

    def __str__(self) -> str:
        return (
            f"the weights that grew first: {self.name}, from {self.first:.3g} in step "
            f"{self.first_step:,} to {self.last:.3g} in step {self.last_step:,}"
            f"{f' (changed at {self.changed_at})' if self.changed_at else ''}"
        )


@dataclass(frozen=True, slots=True)
class Fall:
    """How a loss that is below 0 has become smaller and smaller before.

    Attributes:
        first_step: The first step on record.
        first: The loss then.
        last_step: The last step on record before.
        last: The loss then.
    """

    first_step: int
    first: float
    last_step: int
    last: float

    def __str__(self) -> str:
        return (
            f"the loss itself fell from {self.first:.3g} in step {self.first_step:,} to "
            f"{self.last:.3g} in step {self.last_step:,}"
        )


@dataclass(frozen=True, slots=True)
class Steady:
    """How large a tensor was, in the steps on record, that had not grown before it was bad.

    Attributes:
        first_step: The first of them.
        last_step: The last of them: no step lies between it and that in which the tensor was bad.
        largest: The largest magnitude in all of them.
    """

    first_step: int
    last_step: int
    largest: float

    def __str__(self) -> str:
        return (
            f"its largest magnitude was at most {self.largest:.3g} in all steps measured, "
            f"{self.first_step:,} to {self.last_step:,}"
        )


@dataclass(frozen=True, slots=True)
class Outlier:
    """Data that came in large, in the step in which a tensor made of them was bad.

    Attributes:
        name: The data, or what was made of them first that was measured.
        largest: Its largest magnitude in that step.
        before: The largest in all steps measured before.
    """

    name: str
    largest: float
    before: float

    def __str__(self) -> str:
        return (
            f"it is made of the data of this step: {self.name} is up to {self.largest:.3g}, and "
            f"was at most {self.before:.3g} in all steps measured before"
        )


@dataclass(frozen=True, slots=True)
class Start:
    """A tensor that was huge in the first step of a training, when nothing had been trained yet.

    Attributes:
        name: The tensor: the gradient that was bad later, or a loss.
        largest: Its largest magnitude then.
        step: The step.
    """

    name: str
    largest: float
    step: int

    def __str__(self) -> str:
        return f"{self.name} was up to {self.largest:.3g} in step {self.step:,} already"


@dataclass(frozen=True, slots=True)
class Case:
    """A root: the op that made the first bad tensor, and its surroundings.

    Attributes:
        op_type: Type of the op, or name of the executed function.
        op_name: Name of the op in its graph; None outside.
        slot: Output slot.
        out: What was recorded of the bad tensor.
        inputs: The op's inputs, by slot.
        open: Whether an input that holds values is unknown.
        bad_input: Whether an input is known to be bad: ∞ that the program wrote down.
        unsure: Whether the inputs, finite as they are, may be consequences of an earlier root.
        backward: Whether the op belongs to a gradient.
        gradient_of: Type of the op whose gradient that is; "" where it is not known.
        eager: Whether it is an execution.
        function: Whether it is the execution of a function.
        users: The ops that use the result, and those that use theirs.
        used_with_input: Types of the ops that take the result together with the op's own input.
        healthy_before: In how many calls of the function, or by the line, it was computed before.
        in_earlier_step: Whether it was computed in an earlier step of the training.
        growth: How it grew before; None where it did not, or that is not on record.
        steady: How large it was before, if it had not grown; None where that is not on record.
        fall: How a loss of the program has fallen before; None where none did so below 0.
        loop_growth: The same as `growth` over the iterations of a loop, in one run of it.
        gradient_growth: The same of the gradient that an optimizer makes it of.
        weights: How weights grew in the steps before; None where none have, or it is no training.
        outlier: The data that it was made of, where they are far from those of the steps before.
        start: It or a loss, where that was huge before anything was trained.
        training: Whether the program changes variables, and has begun to.
        gradients: Whether it computes gradients.
        loss_scale: What number losses are multiplied by before their gradients are asked for.
        optimizer: Whether the op belongs to the step of an optimizer.
        index: Position among the events of its kind.
        cut_off: Whether a circular buffer may have dropped what it was made from.
        graph_name: Name of the op's graph; "" outside.
        limits: To what recording was limited, as the user gave it; "" where it was not.
    """

    op_type: str
    op_name: str | None
    slot: int
    out: TensorSummary
    inputs: tuple[Input, ...]
    open: bool = False
    bad_input: bool = False
    unsure: bool = False
    backward: bool = False
    gradient_of: str = ""
    eager: bool = False
    function: bool = False
    users: tuple[User, ...] = ()
    used_with_input: frozenset[str] = frozenset()
    healthy_before: int = 0
    in_earlier_step: bool = False
    growth: Growth | None = None
    steady: Steady | None = None
    fall: Fall | None = None
    loop_growth: Growth | None = None
    gradient_growth: Growth | None = None
    weights: WeightGrowth | None = None
    outlier: Outlier | None = None
    start: Start | None = None
    training: bool = False
    gradients: bool = False
    loss_scale: float = 1.0
    optimizer: bool = False
    index: int = 0
    cut_off: bool = False
    graph_name: str = ""
    limits: str = ""

    def input(self, slot: int) -> Input | None:
        """Return an input, or None where the op has no such one."""
        return self.inputs[slot] if slot < len(self.inputs) else None

    def summary(self, slot: int) -> TensorSummary | None:
        """Return what was recorded of an input, or None."""
        given = self.input(slot)
        return given.summary if given else None

    @property
    def finite(self) -> bool:
        """Whether all inputs that hold values are known to be finite."""
        return not self.open and not self.bad_input

    @property
    def inferred(self) -> bool:
        """Whether an input is only inferred."""
        return any(given.inferred for given in self.inputs)

    def used_by(self, *op_types: str) -> bool:
        """Whether ops of these types use the result, one after the other."""
        users = self.users
        for op_type in op_types[:-1]:
            users = tuple(after for user in users if user.op_type == op_type for after in user.then)
        return any(user.op_type == op_types[-1] for user in users)

    def leads_to(self, op_type: str, through: Collection[str]) -> bool:
        """Whether an op of a type takes the result, or what ops of other types make of it.

        Args:
            op_type: The type.
            through: The types of the ops that may be between.
        """
        users = self.users
        while users:
            if any(user.op_type == op_type for user in users):
                return True
            users = tuple(after for user in users if user.op_type in through for after in user.then)
        return False


@dataclass(frozen=True, slots=True)
class Match:
    """A rule's answer.

    Attributes:
        certainty: How sure it is.
        evidence: The sentence with the numbers.
    """

    certainty: Certainty
    evidence: str

    def doubted(self) -> Match:
        """Return the answer without proof."""
        return Match("likely", self.evidence) if self.certainty == "proved" else self


@dataclass(frozen=True, slots=True)
class Example:
    """What a rule is about, with small numbers.

    Attributes:
        text: The example in one line.
        case: The same as the rule would be asked; None for a silent defect, which is seen only in
            many calls.
    """

    text: str
    case: Case | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A kind of defect, and what to do about it.

    Attributes:
        id: Short name, for JSON and tests.
        title: What happened, in a few words.
        why: Why it happens.
        fix: What to do.
        example: An example of it.
        fix_in_library: What to do where the op is inside of a call of a library, to what that call
            is given; "" where the fix is for that as well.
        fix_in_recurrent: What helps besides where it is in a recurrent layer; "" for nothing.
        float64_helps: Whether it is another way to compute with more digits, or a larger range.
        edits: How the user's own expression would have to change, the best first.
    """

    id: str
    title: str
    why: str
    fix: str
    example: Example
    fix_in_library: str = ""
    fix_in_recurrent: str = ""
    float64_helps: bool = False
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Defect):
    """A reason for NaN or ∞ in the result of an op.

    Attributes:
        op_types: Types of op that it is about; empty for any.
        test: Looks at a case; None where the rule does not fit.
    """

    op_types: frozenset[str]
    test: Callable[[Case], Match | None]

    def match(self, case: Case) -> Match | None:
        """Return the rule's answer; None where it does not fit."""
        if self.op_types and case.op_type not in self.op_types:
            return None
        return self.test(case)


KEEP_POSITIVE = (
    "Make what has to be positive so by its construction: tf.nn.softplus(x) + 1e-3 of what a layer "
    "gives as a scale, a variance or a rate. Leave out a number outside of a distribution's "
    "support. To replace the result alone leaves the gradient NaN."
)
"""What to do about what a library is given that is below 0."""

LEAVE_OUT = (
    "Leave out what it has no value for, or clip it: a row that is masked completely, a number "
    "outside of a distribution's support, a scale or a length of 0. To replace the result alone "
    "leaves the gradient NaN."
)
"""What to do where a call of a library has no value for some of what it is given."""


NO_LOWER_BOUND = (
    "What is minimised is below 0 and has no lower bound: each step makes it smaller, and what it "
    "is made of larger."
)
"""Why a loss falls without end."""

BOUND_IT = (
    "Check the sign of the loss: what is to become small has to be added in it. Bound what is to "
    "become large: a likelihood by a least standard deviation, the critic of a Wasserstein loss by "
    "a gradient penalty or clipped weights."
)
"""What to do about it."""


OVER_TIME = (
    "In a recurrent layer, which multiplies by the same weights in each step of time: tanh instead "
    "of relu, orthogonal recurrent weights, shorter sequences."
)
"""What helps where what is recurrent makes numbers or gradients grow over time."""


def ops(*names: str) -> frozenset[str]:
    """Return a set of op types."""
    return frozenset(names)
