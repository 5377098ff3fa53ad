"""Rules: what they claim is true of the values they were given."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.diagnosis.tiny import summary
from tfdbg_tui.diagnosis import rules
from tfdbg_tui.diagnosis.rules import RULES, catalogue, examples, explain, sources
from tfdbg_tui.diagnosis.rules.model import Case, Growth, Input, Rule, Start, User, WeightGrowth
from tfdbg_tui.diagnosis.rules.silent.defects import DEFECTS
from tfdbg_tui.logdir import TensorSummary

if TYPE_CHECKING:
    from collections.abc import Callable

_VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 0.5, 1e30, -1e30, 90.0, 1e-3])
_ARRAYS = st.lists(_VALUES, min_size=1, max_size=12).map(lambda v: np.array(v, np.float32))


def case(op_type: str, out: np.ndarray, *given_in: np.ndarray, inferred: bool = False) -> Case:
    inputs = tuple(
        Input(summary(value), bool(np.isfinite(value).all()), inferred, f"in{i}", None)
        for i, value in enumerate(given_in)
    )
    return Case(op_type, op_type, 0, summary(out), inputs)


def bad(out: np.ndarray) -> bool:
    return not np.isfinite(out).all()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@pytest.mark.parametrize("out", [[np.nan, 1.0], [np.inf, -np.inf, 1.0]], ids=["nan", "inf"])
def test_a_rule_asks_no_more_than_is_recorded(rule: Rule, out: list[float]) -> None:
    """A damaged or filtered dump may tell of no input of an op, or of fewer than it takes."""
    numbers = np.array(out, np.float32)
    for op_type in sorted(rule.op_types or {"Log"}):
        rule.match(case(op_type, numbers))
        rule.match(case(op_type, numbers, np.ones_like(numbers)))


_UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Log": np.log,
    "Log1p": np.log1p,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Reciprocal": np.reciprocal,
    "Exp": np.exp,
    "Square": np.square,
    "Acos": np.arccos,
    "Atanh": np.arctanh,
    "Acosh": np.arccosh,
}


@pytest.mark.parametrize("op_type", _UNARY)
@given(x=_ARRAYS)
def test_unary_ops_of_finite_numbers_are_explained_and_proved(op_type: str, x: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        out = _UNARY[op_type](x)
    if not bad(out):
        return
    rule, match = explain(case(op_type, out, x))
    assert not rule.id.startswith(("born", "first-seen", "bad-input"))
    both = np.isnan(out).any() and np.isinf(out).any()
    assert match.certainty == "proved" or both or (x == 0).any()
    truth = {
        "log-of-zero": (x == 0).any(),
        "log-of-negative": (x < 0).any(),
        "sqrt-of-negative": (x < 0).any(),
        "rsqrt-of-zero": (x == 0).any(),
        "rsqrt-of-negative": (x < 0).any(),
        "reciprocal-of-zero": (x == 0).any(),
        "log1p-of-minus-one": (x == -1).any(),
        "log1p-below-minus-one": (x < -1).any(),
        "atanh-of-one": (np.abs(x) == 1).any(),
        "atanh-outside-its-domain": (np.abs(x) > 1).any(),
        "acos-outside-its-domain": (np.abs(x) > 1).any(),
        "acosh-below-one": (x < 1).any(),
        "exp-overflow": (x > 88).any(),
        "norm-overflow": (np.abs(x) > 1e19).any(),
    }
    assert truth[rule.id]


@given(a=_ARRAYS, b=_ARRAYS)
def test_a_proved_division_by_zero_is_one(a: np.ndarray, b: np.ndarray) -> None:
    size = min(len(a), len(b))
    a, b = a[:size], b[:size]
    with np.errstate(all="ignore"):
        out = a / b
    if not bad(out):
        return
    rule, match = explain(case("RealDiv", out, a, b))
    if match.certainty == "proved" and "overflow" not in rule.id:
        assert (b == 0).any()
    if rule.id == "zero-over-zero":
        assert np.isnan(out).any()
        assert not np.isinf(out).any()


def test_a_division_by_zero_is_told_where_zeros_are_not_counted() -> None:
    one = np.ones(2, np.float32)
    zero, below = np.array([0, 1], np.float32), np.array([0, 2], np.float32)
    for above, first, expected in (
        (zero, np.nan, ("zero-over-zero", "proved")),
        (one, np.inf, ("division-by-zero", "likely")),
    ):
        counted = case("RealDiv", np.array([first, 0.5], np.float32), above, below)
        inputs = tuple(
            replace(given, summary=TensorSummary(2, nan=0, minimum=float(values.min())))
            for given, values in zip(counted.inputs, (above, below), strict=True)
        )
        rule, match = explain(replace(counted, inputs=inputs))
        assert (rule.id, match.certainty) == expected
        _, match = explain(replace(counted, inputs=inputs, open=True))
        assert match.certainty != "proved"


@given(x=_ARRAYS, hidden=_ARRAYS)
def test_nothing_is_proved_of_a_nan_whose_input_is_unknown(
    x: np.ndarray, hidden: np.ndarray
) -> None:
    """The input may have been NaN already: only an ∞ that the op alone can make is proved."""
    del hidden
    with np.errstate(all="ignore"):
        out = np.log(np.where(x < 0, np.nan, x))
    if not bad(out):
        return
    unknown = Input(None, False, False, "tensor 7", None)
    root = Case("Log", "Log", 0, summary(out), (unknown,), open=True)
    _, match = explain(root)
    if match.certainty == "proved":
        assert np.isneginf(out).any()


def test_an_inferred_link_proves_only_what_the_definition_does() -> None:
    x = np.array([-1, 4], np.float32)
    with np.errstate(all="ignore"):
        assert explain(case("Sqrt", np.sqrt(x), x, inferred=True))[1].certainty == "likely"
        zero = np.array([0, 4], np.float32)
        assert explain(case("Log", np.log(zero), zero, inferred=True))[1].certainty == "proved"


def test_finite_partial_sums_and_counts_that_do_not_match_are_not_proved() -> None:
    out, x = np.array([np.nan, 1], np.float32), np.array([-1, -4], np.float32)
    assert explain(case("Sqrt", out, x))[1].certainty == "likely"
    big = np.array([1e30, 1e30], np.float32)
    assert explain(case("MatMul", out, big, big))[1].certainty == "likely"


def test_a_zero_beside_an_overflow_is_no_negative_power_of_zero() -> None:
    base, infinite = np.array([0, 1e30], np.float32), np.array([0, np.inf], np.float32)
    two = np.full(2, 2, np.float32)
    assert explain(case("Pow", infinite, base, two))[0].id == "product-overflow"
    rule, match = explain(case("Pow", infinite[::-1], base, -two))
    assert (rule.id, match.certainty) == ("pow-of-zero", "proved")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, "batch-norm-overflow"),
        ({"gradients": True, "growth": Growth(0, 1.0, 2, 1e30)}, "grew-until-overflow"),
        ({"training": True, "healthy_before": 10}, "diverged-until-overflow"),
        (
            {
                "training": True,
                "gradients": True,
                "in_earlier_step": True,
                "growth": Growth(0, 1e11, 2, 1e30),
                "start": Start("loss:0", 1e11, 0),
            },
            "grew-until-overflow",
        ),
        (
            {"training": True, "in_earlier_step": True, "start": Start("loss:0", 1e20, 0)},
            "huge-from-the-first-step",
        ),
    ],
    ids=["first", "grown", "finite-before", "huge-at-first-and-grown", "huge-at-first"],
)
def test_a_variance_that_a_training_makes_overflow(told: dict[str, Any], expected: str) -> None:
    first = catalogue.ALL["batch-norm-overflow"].example.case
    assert first is not None
    assert explain(replace(first, **told))[0].id == expected


def test_infinity_divided_by_infinity_is_not_proved_beside_zero_divided_by_zero() -> None:
    out, given = np.array([np.nan, 1], np.float32), np.array([np.inf, 0], np.float32)
    for zeros, certainty in ((given, "likely"), (np.array([np.inf, 1], np.float32), "proved")):
        rule, match = explain(case("RealDiv", out, zeros, given))
        assert (rule.id, match.certainty) == ("infinity-over-infinity", certainty)


@pytest.mark.parametrize("around", [{"limits": "layers=encoder"}, {"cut_off": True}])
def test_where_not_all_is_on_record_an_array_may_have_been_computed(around: dict[str, Any]) -> None:
    given_bad = replace(sources.BAD_ARRAY.example.case, **around)
    assert explain(given_bad)[1].certainty == "observed"


@pytest.mark.parametrize(
    ("most", "expected"), [(3.0, "gradient-overflow"), (1e6, "diverged-until-overflow")]
)
def test_a_gradient_that_overflows_where_weights_have_grown(most: float, expected: str) -> None:
    overflowed = catalogue.ALL["gradient-overflow"].example.case
    assert overflowed is not None
    weights = WeightGrowth("w", 0, 0.1, 1, 0.3, most)
    trained = replace(overflowed, training=True, healthy_before=9, weights=weights)
    assert explain(trained)[0].id == expected


@pytest.mark.parametrize(
    ("limits", "expected"),
    [("", "variable-changed-unrecorded"), ("every=5, lines=a.py", "changed-outside-of-limits")],
)
def test_a_variable_may_have_been_changed_in_steps_that_were_left_out(
    limits: str, expected: str
) -> None:
    changed = catalogue.ALL["changed-outside-of-limits"].example.case
    rule, match = explain(replace(changed, limits=limits))
    assert rule.id == expected
    on_record = "only one step in 5 (every=5), lines=a.py is on record"
    assert (on_record in match.evidence) is bool(limits)


@pytest.mark.parametrize(
    ("update", "rule"),
    [("AssignSubVariableOp", "changed-outside-of-limits"), ("ResourceApplyAdam", "optimizer-step")],
)
def test_finite_values_that_were_subtracted_before_a_pause_made_no_nan(
    update: str, rule: str
) -> None:
    finite = examples.updating(0.5, by=update)
    root = examples.example("ReadVariableOp", finite, out=[np.nan], healthy_before=3).case
    limited = replace(root, open=True, limits="what ran outside of pauses")
    assert explain(limited)[0].id == rule


@pytest.mark.parametrize("made_from", [("Const", "Softmax"), ("Sigmoid", "Sigmoid")])
def test_a_difference_of_zero_is_no_probability_of_zero(made_from: tuple[str, ...]) -> None:
    difference = examples.given(0, 1, by="Sub", of=made_from)
    root = examples.example("Log", difference, out=[-np.inf, 0]).case
    assert explain(root)[0].id == "log-of-zero"


@pytest.mark.parametrize(
    ("of", "rule"), [(("Max", "Min"), "scaled-by-zero-range"), (("Min",), "zero-over-zero")]
)
def test_a_range_has_two_ends(of: tuple[str, ...], rule: str) -> None:
    divisor, nan = examples.given(0, by="Sub", of=of), [np.nan, np.nan]
    root = examples.example("RealDiv", examples.given(0, 0), divisor, out=nan).case
    assert explain(root)[0].id == rule


def test_nan_of_infinite_logits_says_nothing_of_labels() -> None:
    labels = examples.given(7)
    of_infinity, of_label = (
        explain(
            examples.example(
                "SparseSoftmaxCrossEntropyWithLogits", examples.given(*logits), labels, out=[np.nan]
            ).case
        )
        for logits in ((np.inf, 1), (2, 1))
    )
    assert of_infinity[0].id == "function-of-bad-array"
    assert of_label[0].id == "label-out-of-range"
    assert "labels run from 7 to 7" in of_label[1].evidence


def test_what_nothing_is_known_of_has_an_explanation() -> None:
    nothing = Case("NeverHeardOf", None, 0, summary(np.array([np.nan], np.float32)), ())
    assert explain(nothing)[1].certainty == "observed"


def test_rules_have_names() -> None:
    assert len(catalogue.ALL) == len(RULES) + len(DEFECTS)
    for rule in catalogue.ALL.values():
        assert rule.title, rule.id
        assert rule.why.endswith("."), rule.id
        assert rule.fix, rule.id


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_explains_its_example(rule: Rule) -> None:
    """None is hidden by one that is asked before it, and none fits nothing at all."""
    assert rule.example.case is not None
    assert explain(rule.example.case)[0].id == rule.id


def test_every_module_of_rules_is_asked() -> None:
    modules = [
        importlib.import_module(f"{rules.__name__}.{found.name}")
        for found in pkgutil.iter_modules(rules.__path__)
    ]
    assert {rule for module in modules for rule in getattr(module, "RULES", ())} <= set(RULES)


def test_the_page_of_rules_is_up_to_date() -> None:
    page = Path(catalogue.__file__).with_name("README.md")
    assert page.read_text() == catalogue.as_markdown(), f"tfdbg-tui rules --markdown > {page}"


@pytest.mark.parametrize(
    ("before", "in_earlier_step", "rule_id"),
    [
        (0, False, "product-overflow"),
        (1, False, "product-overflow"),
        (1, True, "diverged"),
        (3, False, "diverged"),
    ],
)
def test_what_grew_in_a_training_is_explained_by_the_learning_rate_first(
    before: int, in_earlier_step: bool, rule_id: str
) -> None:
    large = np.array([1e30, 1.0], np.float32)
    with np.errstate(over="ignore"):
        grown = replace(case("Mul", large * large, large, large), training=True)
    case_of_step = replace(grown, healthy_before=before, in_earlier_step=in_earlier_step)
    rule, match = explain(case_of_step)
    assert rule.id.startswith(rule_id)
    if rule_id == "diverged":
        assert rule.fix.startswith("Lower the learning rate")
        times = "computation" if before == 1 else "3 computations"
        assert match.evidence.endswith(f"; finite in the {times} before")


@pytest.mark.parametrize(
    "change",
    [
        {"training": False},
        {"healthy_before": 1},
        {"users": (User("Minimum"),)},
        {
            "inputs": (
                Input(summary(np.array([1000.0, 1.0], np.float32)), True, False, "data", None),
            )
        },
    ],
    ids=["no training", "at once", "bounded too late", "of data"],
)
def test_an_exponential_is_explained_by_the_training_only_where_a_layer_grew(
    change: dict[str, Any],
) -> None:
    (rule,) = (rule for rule in RULES if rule.id == "diverged-until-exp-overflow")
    explained, match = explain(replace(rule.example.case, **change))
    assert (explained.id, match.certainty) == ("exp-overflow", "proved")


@pytest.mark.parametrize(
    "user",
    [
        User("RealDiv", 1, frozenset({"Pow"})),
        User("RealDiv", 0, frozenset({"Sqrt"})),
        User("RealDiv", 0, frozenset({"Const"}), (User("Log"),)),
        User("AddV2", 0, frozenset({"Square"}), (User("RealDiv", 1),)),
        User("AddV2", 0, frozenset({"Const"}), (User("RealDiv", 0),)),
        User("AddV2", 0, frozenset({"Square"}), (User("Log"),)),
        User("RealDiv", 0, frozenset({"Exp"}), (User("Log"),)),
        User("AddV2", 0, frozenset({"Const"}), (User("Log"),), "poisson/add"),
    ],
    ids=["divisor", "by a norm", "by a number", "of a sum", "plus one", "of two", "ratio", "loss"],
)
def test_an_exponential_has_the_name_of_a_function_only_where_it_is_written_out(user: User) -> None:
    (rule,) = (rule for rule in RULES if rule.id == "exp-overflow")
    explained, _ = explain(replace(rule.example.case, users=(user,)))
    assert explained.id == "exp-overflow"


def test_nan_that_erf_makes_of_infinity_did_not_come_in() -> None:
    """What made the ∞ is harmless, as the outer bins of an ordinal likelihood, so it stays open."""
    erf = case("Erf", np.array([np.nan, 0.8]), np.array([np.inf, 1.0]))
    explained, match = explain(replace(erf, open=True))
    assert (explained.id, match.certainty) == ("no-value-at-infinity", "proved")


@pytest.mark.parametrize(
    ("by", "of", "expected"),
    [
        ("Add", ("Reshape", "ReadVariableOp"), "attention-overflow"),
        ("ReadVariableOp", (), "half-precision-overflow"),
        ("Cast", ("ReadVariableOp",), "half-precision-overflow"),
        ("Const", (), "half-precision-overflow"),
    ],
)
def test_only_a_product_that_takes_no_weights_is_one_of_attention(
    by: str, of: tuple[str, ...], expected: str
) -> None:
    factors = examples.given(300.0, by="AddV2"), examples.given(300.0, by=by, of=of)
    head = examples.example(
        "MatMul", *factors, out=[np.inf], dtype="float16", users=(User("Softmax"),)
    )
    assert head.case is not None
    assert explain(head.case)[0].id == expected


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (("Cast", "Mul"), "attention-overflow"),  # Keras' MultiHeadAttention
        (("Mul", "SelectV2"), "attention-overflow"),
        (("Transpose",), "attention-overflow"),
        (("Relu",), "half-precision-overflow"),
    ],
)
def test_scores_of_attention_are_scaled_and_masked_before_the_softmax(
    between: tuple[str, ...], expected: str
) -> None:
    users: tuple[User, ...] = (User("Softmax"),)
    for op_type in reversed(between):
        users = (User("Shape"), User(op_type, then=users))
    factors = examples.given(300.0, by="AddV2"), examples.given(300.0, by="AddV2")
    scores = examples.example("Einsum", *factors, out=[np.inf], dtype="float16", users=users)
    assert scores.case is not None
    assert explain(scores.case)[0].id == expected


@pytest.mark.parametrize(
    ("least", "made_by", "of", "of_type", "rule"),
    [
        (-2147479015.0, "Cast", None, "Mul", "integer-overflow"),
        (-9.223372e18, "Cast", None, "Mul", "integer-overflow"),
        (-5.0, "Cast", None, "Mul", "sqrt-of-negative"),
        (-2.2e9, "Cast", None, "Mul", "sqrt-of-negative"),
        (-2147479015.0, "Mul", None, "Mul", "sqrt-of-negative"),
        (-2147479015.0, "Cast", -2147479015.0, "Mul", "sqrt-of-negative"),
        (-2147483648.0, "Cast", None, "Const", "sqrt-of-negative"),
        (-2147483648.0, "Cast", None, None, "sqrt-of-negative"),
    ],
)
def test_an_integer_next_to_the_least_has_overflowed(
    least: float, made_by: str, of: float | None, of_type: str | None, rule: str
) -> None:
    """Unless what was cast is on record, as numbers are that are no integers, or was given."""
    source = summary(np.array([of, 4.0])) if of is not None else None
    made_from = (Input(source, True, False, "x", of_type),)
    x = np.array([least, 4.0], np.float32)
    out = np.array([np.nan, 2.0], np.float32)
    of_cast = case("Sqrt", out, x)
    given_in = replace(
        of_cast.inputs[0],
        summary=replace(summary(x), minimum=least, maximum=4.0),
        op_type=made_by,
        made_from=made_from,
    )
    assert explain(replace(of_cast, inputs=(given_in,)))[0].id == rule


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("args_2", "number 2 of the arrays"),
        ("args_0", "given to the input pipeline"),  # which elements are taken
        ("x", "given to the input pipeline"),
    ],
)
def test_which_array_of_fit_is_bad_is_told(name: str, told: str) -> None:
    placeholder = case("Placeholder", np.array([np.nan, 1], np.float32))
    rule, match = explain(
        replace(placeholder, op_name=name, graph_name="Dataset_map_grab_batch", open=True)
    )
    assert (rule.id, told in match.evidence) == ("bad-pipeline-input", True)
