"""What is known of the functions that the program has created, and of what runs in their place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from tfdbg_tui.dump.observe.observed import ASSUMED_DIMENSION, UnknownDimensions
from tfdbg_tui.dump.tensorflow import functions, pruning
from tfdbg_tui.dump.tensorflow.function_defs import called_functions, implements, is_chosen_later

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfdbg_tui.dump.observe.places import Usage
    from tfdbg_tui.dump.tensorflow.function_defs import Computed, Slots


@dataclass(frozen=True, slots=True)
class FunctionCopy:
    """A function that runs in place of one of the program's.

    Attributes:
        function: The runtime function, which is there as long as this object.
        captures: What it takes after the arguments; see `AddedGraph.captures`.
        numbered: Whether it takes the number of the call after these.
        kept: What has to live as long.
    """

    function: Any
    captures: dict[str, Any]
    numbered: bool = False
    kept: Sequence[Any] = ()

    @property
    def name(self) -> str:
        """Name of the runtime function."""
        return functions.function_name(self.function)

    @property
    def takes_the_same(self) -> bool:
        """Whether it takes just what the function takes that it is a copy of."""
        return not (self.captures or self.numbered)


@dataclass(slots=True, eq=False, weakref_slot=True)
class ProgramFunction:
    """What is known of a function of the program; kept on it, so that it lives as long.

    Attributes:
        graph: What it was made of, which may grow later.
        arguments: The names of its arguments.
        num_ops: How many ops the graph had.
        num_outputs: How many outputs it has.
        dimensions: How large the unknown ones of its arguments are.
        copies: What runs in its place.
        computed: What is computed of it for some of its outputs.
        anywhere: What is known to hold, or not, for its FunctionDef or for one that it calls.
    """

    graph: Any
    arguments: list[str]
    num_ops: int
    num_outputs: int
    dimensions: UnknownDimensions
    copies: dict[Usage, FunctionCopy | None] = field(default_factory=dict)
    computed: dict[Slots, Computed] = field(default_factory=dict)
    anywhere: dict[Callable[[Any], bool], bool] = field(default_factory=dict)
    _implements: str | None = ""

    @property
    def ops(self) -> Sequence[Any]:
        """The ops of its graph that it was made of."""
        ops: Sequence[Any] = self.graph.get_operations()[: self.num_ops]
        return ops

    def implements(self, name: str) -> str | None:
        """Return what TensorFlow may choose it, called so, for; see `function_defs.implements`."""
        if self._implements == "":
            self._implements = implements(functions.function_def(name))
        return self._implements


class ProgramFunctions:
    """The functions of the program, by their names."""

    def __init__(self) -> None:
        self._by_name: WeakValueDictionary[str, ProgramFunction] = WeakValueDictionary()

    def add(self, function: Any, graph: Any) -> None:
        """Take note of a function that was just created, and of its graph."""
        placeholders = [tensor.op.name for tensor in graph.inputs]
        size = len(graph.get_operations()), len(graph.outputs)
        known = ProgramFunction(graph, placeholders, *size, UnknownDimensions(graph.inputs))
        self._by_name[functions.function_name(function)] = known
        functions.keep(function, known)

    def get(self, name: str) -> ProgramFunction | None:
        """Return what is known of a function; None of one that was not seen being created."""
        return self._by_name.get(name)

    def all(self) -> list[tuple[str, ProgramFunction]]:
        """Return the functions that there still are, with their names."""
        return list(self._by_name.items())

    def dimension(self, name: str, inputs: Sequence[Any]) -> int:
        """Return what an unknown dimension is taken to be in a call of a function.

        Args:
            name: The function's.
            inputs: Those of the call, eager tensors.
        """
        known = self.get(name)
        if known is None or len(inputs) != len(known.arguments):
            return ASSUMED_DIMENSION
        known.dimensions.note(inputs)
        return known.dimensions.largest

    def computed(self, name: str, used: Slots) -> Computed:
        """Return what is computed of a function for some of its outputs."""
        known = self.get(name)
        computed = known.computed if known is not None else {}
        if used not in computed:
            definition = functions.function_def(name)
            computed[used] = pruning.everything(definition)  # It calls itself.
            computed[used] = pruning.computed(definition, used, self.computed)
        return computed[used]

    def calls_chosen(self, name: str) -> bool:
        """Return whether TensorFlow chooses what implements a function, or one that it calls.

        In a session it does so once it has inlined the calls around, on their devices; it does not
        inline what records, if nothing waits for the call.
        """
        return self.holds_anywhere(is_chosen_later, name)

    def holds_anywhere(self, what: Callable[[Any], bool], name: str) -> bool:
        """Return whether something holds for a function's FunctionDef, or for one that it calls."""
        known = self.get(name)
        answers = known.anywhere if known is not None else {}
        if what not in answers:
            definition = functions.function_def(name)
            answers[what] = what(definition)  # It may call itself.
            called = {f.name for node in definition.node_def for f in called_functions(node)}
            answers[what] = answers[what] or any(self.holds_anywhere(what, f) for f in called)
        return answers[what]

    def calls_such(self, what: Callable[[Any], bool], node: Any) -> bool:
        """Return whether something holds anywhere in what a node calls."""
        return any(self.holds_anywhere(what, function.name) for function in called_functions(node))
