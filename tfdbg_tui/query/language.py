"""The language of filters: terms separated by spaces, all of which have to hold.

    bad type=Relu fn=loss line=train.py:19 step=6..9 zero>90% !device=GPU:1 encoder /grad.*MatMul/

A term is a word that is looked for in names, types, functions, dtypes and places; ``/regex/``;
``field=text`` with alternatives separated by commas and ``*`` for anything; ``field~regex``; a
number with ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` or a range ``6..9``, for counts also as a
share of all elements (``zero>90%``); or one of the words ``bad``, ``nan``, ``inf``,
``-inf``, ``+inf``.  ``!`` in
front negates it.  Capital letters count only where any are typed.  What is not on record fits no
term.
"""

from __future__ import annotations

import difflib
import fnmatch
import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

TEXTS = ("name", "type", "fn", "layer", "dtype", "device", "line")
COUNTS = ("nan", "-inf", "+inf", "inf", "neg", "zero", "pos")
NUMBERS = ("step", "size", "rank", *COUNTS, "min", "max")
BAD_KINDS = ("nan", "-inf", "+inf")
"""Words for one kind of bad values each."""

FLAGS = ("bad", "inf", *BAD_KINDS)
ANY = ""
"""The field of a term that looks at all texts."""

_TOKEN = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_TERM = re.compile(r"([+-]?[a-z]+)(!=|<=|>=|=|<|>|~)(.*)", re.DOTALL)
_INTEGER = r"(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)"  # a comma is for thousands, not for alternatives
_NUMBER = re.compile(rf"([+-]?(?:{_INTEGER}\.?\d*|\.\d+)(?:e[+-]?\d+)?)([kMG]?)(%?)$")
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def kind_of(text: str) -> str | None:
    """Return the kind of bad values that a filter selects; None where it is for no kind alone."""
    return next((kind for kind in BAD_KINDS if kind in text.split()), None)


def with_kind(text: str, kind: str | None) -> str:
    """Return a filter that selects one kind of bad values and no other; all again for None."""
    others = [word for word in text.split() if word not in BAD_KINDS]
    return " ".join([kind, *others] if kind else others)


class QueryError(ValueError):
    """A filter that cannot be understood; the message says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What terms can be about, of whatever is listed.

    Attributes:
        texts: Names of texts.
        numbers: Names of numbers.
        flags: Words that are terms by themselves.
    """

    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    flags: tuple[str, ...] = ("bad",)

    @property
    def fields(self) -> tuple[str, ...]:
        """Everything that a term can be about."""
        return (*self.texts, *self.numbers, "bad")


OF_TENSORS = Vocabulary(TEXTS, NUMBERS, FLAGS)


@dataclass(frozen=True, slots=True)
class TextTerm:
    """A term about texts.

    Attributes:
        field: What it is about; `ANY` for all texts.
        patterns: Of which one has to be found.
        negated: Whether none may be.
    """

    field: str
    patterns: tuple[re.Pattern[str], ...]
    negated: bool = False

    def fits(self, texts: Mapping[str, Sequence[str]]) -> bool:
        """Whether one of the texts by field fits, or, where it is negated, none."""
        asked = texts.values() if self.field == ANY else (texts.get(self.field, ()),)
        found = any(self.finds(text) for some in asked for text in some)
        return found != self.negated

    def finds(self, text: str) -> bool:
        """Whether one of the patterns is found in a text."""
        return any(pattern.search(text) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class NumberTerm:
    """A term about a number.

    Attributes:
        field: What it is about.
        low: The least that fits.
        high: The most that fits.
        share: Whether they are shares of all elements rather than counts.
        negated: Whether no number between them fits.
    """

    field: str
    low: float
    high: float
    share: bool = False
    negated: bool = False

    def fits(self, tensors: Mapping[str, Floats]) -> Flags:
        """Return which of some tensors fit, given their numbers by field; NaN for none at all."""
        return self._within(tensors) ^ self.negated

    def known(self, tensors: Mapping[str, Floats]) -> Flags:
        """Return of which of some tensors it is on record whether they fit."""
        known: Flags = ~np.isnan(tensors[self.field])
        return known

    def fits_one_of(self, tensors: Mapping[str, Floats], events: Ints, count: int) -> Flags:
        """Return of which events a tensor fits, or, where it is negated, none does without that.

        Args:
            tensors: Their numbers by field.
            events: Number of the event of each tensor.
            count: How many events there are.
        """
        found = np.zeros(count, np.bool_)
        found[events[self._within(tensors)]] = True
        return found ^ self.negated

    def _within(self, tensors: Mapping[str, Floats]) -> Flags:
        numbers = tensors[self.field]
        if self.share:
            sizes = tensors["size"]
            numbers = numbers / np.where(sizes == 0, np.nan, sizes)
        within: Flags = (numbers >= self.low) & (numbers <= self.high)
        return within

    @property
    def only_bad(self) -> bool:
        """Whether nothing fits but tensors with NaN or infinity."""
        counted = self.field in ("nan", "-inf", "+inf", "inf")
        return counted and self.low > 0 and not self.negated


@dataclass(frozen=True, slots=True)
class Query:
    """A filter.

    Attributes:
        texts: Its terms about texts.
        numbers: Its terms about numbers.
        bad: Whether only tensors with NaN or infinity fit, or only others; None for either.
    """

    texts: tuple[TextTerm, ...] = ()
    numbers: tuple[NumberTerm, ...] = ()
    bad: bool | None = None

    @property
    def only_bad(self) -> bool:
        """Whether nothing fits but tensors with NaN or infinity."""
        return bool(self.bad) or any(term.only_bad for term in self.numbers)


def parse(text: str, vocabulary: Vocabulary = OF_TENSORS) -> Query:
    """Return what a filter means.

    Args:
        text: The filter.
        vocabulary: What its terms can be about.

    Raises:
        QueryError: It cannot be understood.
    """
    texts: list[TextTerm] = []
    numbers: list[NumberTerm] = []
    bad: bool | None = None
    for token in _TOKEN.findall(text):
        negated = token.startswith("!") and len(token) > 1
        word = token[1:] if negated else token
        if word == "bad":
            if bad is negated:
                raise QueryError("bad and !bad: nothing is both")
            bad = not negated
        elif word in vocabulary.flags:
            numbers.append(NumberTerm(word, math.ulp(0.0), math.inf, negated=negated))
        elif (match := _TERM.fullmatch(word)) and not word.startswith("/"):
            field, relation, value = match[1], match[2], match[3].replace('"', "")
            term = _term(vocabulary, field, relation, value, negated=negated)
            if isinstance(term, TextTerm):
                texts.append(term)
            else:
                numbers.append(term)
        else:
            texts.append(TextTerm(ANY, (_word(word.replace('"', "")),), negated))
    return Query(tuple(texts), tuple(numbers), bad)


def _expression(text: str, flags: int) -> re.Pattern[str]:
    """Return a regular expression; what Python thinks of its style would disturb the screen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(text, flags)


def searched(text: str) -> TextTerm:
    """Return the term that finds a text anywhere, or what it matches as a regular expression."""
    plain = re.escape(text)
    try:
        pattern = _expression(f"{plain}|(?:{text})", _case(text))
    except re.error:
        pattern = re.compile(plain, _case(text))
    return TextTerm(ANY, (pattern,))


def _term(
    vocabulary: Vocabulary, field: str, relation: str, value: str, *, negated: bool
) -> TextTerm | NumberTerm:
    if not value:
        raise QueryError(f"{field}{relation} needs a value behind it")
    if field in vocabulary.texts:
        return _text_term(field, relation, value, negated=negated)
    if field in vocabulary.numbers:
        return _number_term(field, relation, value, negated=negated)
    close = difflib.get_close_matches(field, vocabulary.fields, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(vocabulary.fields)}"
    raise QueryError(f"there is no field {field}: {hint}")


def _text_term(field: str, relation: str, value: str, *, negated: bool) -> TextTerm:
    if relation == "~":
        return TextTerm(field, (_regex(_between_slashes(value) or value),), negated)
    if relation not in ("=", "!="):
        raise QueryError(f"{field} is a text: use {field}={value} or {field}~{value}")
    patterns = tuple(_whole(part, field) for part in value.split(",") if part)
    return TextTerm(field, patterns, negated != (relation == "!="))


def _whole(value: str, field: str) -> re.Pattern[str]:
    """Return a pattern of a whole text, with ``*`` for anything; of a place its end is enough."""
    value = value.replace("[", "[[]")  # as modules in lists are named: blocks[0]
    pattern = fnmatch.translate(value)
    if field == "line":
        file, colon, line = value.rpartition(":")
        if not (colon and line.isdecimal()):
            file, line = value, "[0-9]*"
        pattern = r"(?:.*[/\\])?" + fnmatch.translate(f"{file}:{line}")
    return re.compile(rf"\A{pattern}", _case(value))


def _word(word: str) -> re.Pattern[str]:
    """Return the pattern of a word or ``/regex/``."""
    regex = _between_slashes(word)
    return _regex(regex) if regex else re.compile(re.escape(word), _case(word))


def _between_slashes(text: str) -> str:
    """Return what stands in ``/regex/``; "" for any other text."""
    return text[1:-1] if text.startswith("/") and text.endswith("/") else ""


def _regex(text: str) -> re.Pattern[str]:
    try:
        return _expression(text, _case(text))
    except re.error as error:
        raise QueryError(f"{text} is no regular expression: {error}") from error


def _case(text: str) -> re.RegexFlag:
    return re.NOFLAG if text != text.lower() else re.IGNORECASE


def _number_term(field: str, relation: str, value: str, *, negated: bool) -> NumberTerm:
    if relation == "~":
        raise QueryError(f"{field} is a number: use =, <, > or a range such as {field}=6..9")
    first, dots, last = value.partition("..")
    if dots and relation not in ("=", "!="):
        raise QueryError(f"a range goes with =: {field}={value}")
    low, low_share = _number(field, first) if first else (-math.inf, False)
    high, high_share = _number(field, last) if last else (math.inf, False)
    if low > high:
        raise QueryError(f"no number is in {value}: the smaller one comes first")
    if not dots:
        low, high = _bounds(relation, low)
    share = low_share or high_share
    return NumberTerm(field, low, high, share, negated != (relation == "!="))


def _bounds(relation: str, number: float) -> tuple[float, float]:
    """Return the least and the most that a relation lets through."""
    match relation:
        case "<":
            return -math.inf, math.nextafter(number, -math.inf)
        case "<=":
            return -math.inf, number
        case ">":
            return math.nextafter(number, math.inf), math.inf
        case ">=":
            return number, math.inf
    return number, number


def _number(field: str, text: str) -> tuple[float, bool]:
    """Return a number, and whether it is a share."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise QueryError(f"{text} is no number, as {field} needs: one, or a range as {field}=6..9")
    number = float(re.sub("[_,]", "", match[1])) * _UNITS[match[2]]
    if match[3] and field not in COUNTS:
        raise QueryError(f"{field} has no share of all elements: leave out the %")
    return (number / 100, True) if match[3] else (number, False)
