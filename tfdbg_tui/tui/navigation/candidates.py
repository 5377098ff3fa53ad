"""What a line that is being typed may become: where one can go, what lists can be sorted by."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from tfdbg_tui.diagnosis import file_name, is_library_frame
from tfdbg_tui.logdir import StackFrame
from tfdbg_tui.query import OF_TENSORS, searched
from tfdbg_tui.tui.navigation.filtering import pane_to_filter
from tfdbg_tui.tui.panes import pane_named
from tfdbg_tui.tui.terminal.text import short_device
from tfdbg_tui.tui.widgets.candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfdbg_tui.query import Vocabulary
    from tfdbg_tui.tui.session.focus import Focus
    from tfdbg_tui.tui.session.snapshot import Snapshot

_MOST = 50  # that Tab goes through
_NAMED = 4  # of a kind of place
_PART = re.compile(r"_(true|false|branch\d+|body|cond)(_\d+)?$")  # of a function


def destinations(snapshot: Snapshot, text: str) -> list[Candidate]:
    """Return where one can go; before anything has been typed, what kinds of places there are."""
    if not text:
        return _kinds(snapshot)
    known = _destinations(snapshot)
    prefixes = [kind for kind in _kinds(snapshot) if kind.text.endswith(":")]
    begin = [one for one in [*prefixes, *known] if one.text.lower().startswith(text.lower())]
    finds = searched(text).finds
    inside = (one for one in known if finds(one.text) and one not in begin)
    return [*begin, *islice(inside, _MOST)][:_MOST]


def columns(snapshot: Snapshot, focus: Focus, text: str) -> list[Candidate]:
    """Return the columns that the focused list can be sorted by; none where it cannot be.

    Args:
        snapshot: What is shown.
        focus: What is focused.
        text: What has been typed of the name.
    """
    found = pane_named(focus.pane).rows.columns(snapshot)
    return [Candidate(one) for one in found if one.startswith(text)]


def filters(snapshot: Snapshot, focus: Focus, text: str) -> list[Candidate]:
    """Return what the last term of a filter may become: fields, types, functions, layers, devices.

    Args:
        snapshot: What is shown.
        focus: What decides which list is filtered.
        text: What has been typed.
    """
    vocabulary = pane_named(pane_to_filter(focus)).rows.VOCABULARY or OF_TENSORS
    terms = _names(vocabulary)
    if vocabulary is OF_TENSORS:
        terms += _terms(snapshot)
    start, space, word = text.rpartition(" ")
    negated = "!" if word.startswith("!") else ""
    word = word.removeprefix("!")
    begun = [one for one in terms if one.startswith(word) and one != word]
    return [Candidate(f"{start}{space}{negated}{one}") for one in begun[:_MOST]] if word else []


def _kinds(snapshot: Snapshot) -> list[Candidate]:
    """Return a line for each kind of place that the run has."""
    run, steps = snapshot.run, snapshot.run.executions.steps.numbers
    ranges = (
        ("trace:", "tensors of graphs", 0, len(run.graph_executions) - 1),
        ("exec:", "executions", 0, len(run.executions) - 1),
        ("alert:", "alerts", 1, len(snapshot.alerts)),
        ("step:", "training steps", *((int(steps[0]), int(steps[-1])) if len(steps) else (0, -1))),
        ("epoch:", "epochs of fit", 1, run.num_epochs),
    )
    kinds = [
        Candidate(prefix, f"{what} {first:,} to {last:,}")
        for prefix, what, first, last in ranges
        if last >= first
    ]
    named = (("fn:", _functions(snapshot)), ("device:", _devices(snapshot)))
    kinds += [Candidate(prefix, _first_of(names)) for prefix, names in named if names]
    return [*kinds, *(Candidate(name, "source file") for name in _files(snapshot)[:1])]


def _first_of(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (" and others" if len(names) > _NAMED else "")


@lru_cache(1)
def _destinations(snapshot: Snapshot) -> list[Candidate]:
    """Return all places that have names."""
    graphs = list(snapshot.run.graphs.values())
    found = [Candidate(f"fn:{name}", "function") for name in _functions(snapshot)]
    found += [Candidate(name, "source file") for name in _files(snapshot)]
    found += [Candidate(f"device:{name}", "device") for name in _devices(snapshot)]
    ops = _distinct(name for graph in graphs for name in list(graph.ops))
    return [*found, *(Candidate(name, "op") for name in ops)]


def _names(vocabulary: Vocabulary) -> list[str]:
    """Return what terms can be about, with what they need behind them."""
    names = dict.fromkeys((*vocabulary.fields, *vocabulary.flags))
    return [name if name in vocabulary.flags else f"{name}=" for name in names]


@lru_cache(1)
def _terms(snapshot: Snapshot) -> list[str]:
    """Return terms about tensors: values of some fields."""
    graphs = list(snapshot.run.graphs.values())
    types = _distinct(op.op_type for graph in graphs for op in list(graph.ops.values()))
    values = [f"type={name}" for name in types]
    values += [f"fn={_quoted(name)}" for name in _functions(snapshot)]
    layers = _distinct(layer.name for layer in snapshot.run.layers)
    values += [f"layer={_quoted(name)}" for name in layers]
    values += [f"device={name}" for name in _devices(snapshot)]
    return values


def _functions(snapshot: Snapshot) -> list[str]:
    """Return the names of functions, those of branches and loops left out."""
    graphs = [graph for graph in list(snapshot.run.graphs.values()) if graph.name]
    names = (snapshot.graph_name(graph.graph_id).partition(" (")[0] for graph in graphs)
    whole = (name for name in _distinct(names) if not _PART.search(name))
    return sorted(whole, key=lambda name: name.startswith("Dataset_"))  # tf.data's come last


def _devices(snapshot: Snapshot) -> list[str]:
    return _distinct(map(short_device, snapshot.run.devices))


def _files(snapshot: Snapshot) -> list[str]:
    """Return the names of source files, those of the program first."""
    frames = (StackFrame(host, path, 1, "") for host, path in snapshot.run.source_paths)
    ordered = sorted(frames, key=is_library_frame)
    return _distinct(file_name(frame.path or "") for frame in ordered)


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
