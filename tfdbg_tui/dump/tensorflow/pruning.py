"""What TensorFlow computes of a function: it prunes what nothing uses, across calls too.

A function computes what its control outputs depend on, which are its ops with side effects, and
the outputs that its caller uses.  An op that nothing uses may raise or take long, and does neither,
so an op that looks at its outputs must not be there.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfdbg_tui.dump.tensorflow.function_defs import (
    EFFECTS,
    Computed,
    Slots,
    Uses,
    called_functions,
    hands_on_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

OfFunction = Callable[[str, Slots], Computed]
"""Returns what is computed of a function for some of its outputs, given its name."""


def everything(definition: Any) -> Computed:
    """Return that all of a FunctionDef is computed."""
    arguments = frozenset(range(len(definition.signature.input_arg)))
    return Computed(arguments, dict.fromkeys(node.name for node in definition.node_def))


def computed(definition: Any, used: Slots, of_function: OfFunction) -> Computed:
    """Return what is computed of a FunctionDef.

    Args:
        definition: The FunctionDef.
        used: The outputs that its caller uses.
        of_function: Tells the same of the functions that it calls.
    """
    search = _Search(definition, of_function)
    search.use_outputs(used)
    search.use_effects()
    return search.run()


def uses(
    definition: Any, of_function: OfFunction, *, is_loop_body: bool = False
) -> dict[str, Uses]:
    """Return for which outputs of a FunctionDef each of its nodes and arguments is computed.

    Args:
        definition: The FunctionDef.
        of_function: Tells what is computed of the functions that it calls.
        is_loop_body: Whether its outputs are its arguments in the next iteration: then what one of
            them is computed from is computed for all that is computed from it.
    """
    found: dict[str, Uses] = {}
    arguments: dict[int, frozenset[int]] = {}
    for number in (EFFECTS, *range(len(definition.signature.output_arg))):
        search = _Search(definition, of_function)
        if number == EFFECTS:
            search.use_effects()
        else:
            search.use_outputs(frozenset((number,)))
        for name in search.run_names():
            found[name] = found.get(name, frozenset()) | {number}
        arguments[number] = search.used_arguments
    return _in_all_iterations(found, arguments) if is_loop_body else found


def _in_all_iterations(
    found: dict[str, Uses], arguments: dict[int, frozenset[int]]
) -> dict[str, Uses]:
    """Return for which outputs of a loop's body each name is computed in some iteration.

    Args:
        found: The same of one iteration.
        arguments: The arguments that each output is computed from.
    """
    used_by: dict[int, set[int]] = {number: {number} for number in arguments}
    for number in arguments:
        todo = [number]
        while todo:
            for needed in arguments[todo.pop()]:
                if number not in used_by[needed]:
                    used_by[needed].add(number)
                    todo.append(needed)
    return {
        name: frozenset().union(*(used_by[number] for number in numbers))
        for name, numbers in found.items()
    }


class _Search:
    """Goes from what is used to what that depends on.

    The node that was created last comes first, as all that uses it is known by then; in a loop of
    TensorFlow 1, which goes back, nodes come again.
    """

    def __init__(self, definition: Any, of_function: OfFunction) -> None:
        self._nodes = definition.node_def
        self._of_function = of_function
        self._arguments = {a.name: n for n, a in enumerate(definition.signature.input_arg)}
        self._numbers = {node.name: number for number, node in enumerate(self._nodes)}
        self._used_arguments: set[int] = set()
        self._used: dict[str, set[int]] = {}
        self._todo: list[int] = []
        self._definition = definition

    def use_outputs(self, used: Slots) -> None:
        """Note that some outputs of the function are used."""
        for number, output in enumerate(self._definition.signature.output_arg):
            if used is None or number in used:
                self.use(self._definition.ret[output.name])

    def use_effects(self) -> None:
        """Note that the side effects of the function are wanted."""
        for name in self._definition.control_ret.values():
            self.use(f"^{name}")

    def use(self, reference: str) -> None:
        """Note that a tensor, or a control input, is used."""
        name, _, output = reference.removeprefix("^").partition(":")
        if name in self._arguments:
            self._used_arguments.add(self._arguments[name])
            return
        slots = {int(output.rpartition(":")[2])} if output else set()
        known = self._used.get(name)
        if known is None or not slots <= known:
            self._used[name] = slots | (known or set())
            heapq.heappush(self._todo, -self._numbers[name])

    def run(self) -> Computed:
        """Follow all that is used to its end."""
        while self._todo:
            node = self._nodes[-heapq.heappop(self._todo)]
            for reference in self._needed(node):
                self.use(reference)
        nodes = {name: self._computed_outputs(name) for name in self._used}
        return Computed(self.used_arguments, nodes)

    def run_names(self) -> list[str]:
        """Return the names of the nodes that run, and of the arguments that are used."""
        self.run()
        arguments = (n for n, number in self._arguments.items() if number in self._used_arguments)
        return [*self._used, *arguments]

    @property
    def used_arguments(self) -> frozenset[int]:
        """The numbers of the arguments that are used by what has been followed."""
        return frozenset(self._used_arguments)

    def _computed_outputs(self, name: str) -> Slots:
        calls = hands_on_inputs(self._nodes[self._numbers[name]])
        return frozenset(self._used[name]) if calls else None

    def _needed(self, node: Any) -> Iterable[str]:
        """Return the inputs that a node needs for the outputs that are used."""
        if not hands_on_inputs(node):
            return list(node.input)
        tensors = [reference for reference in node.input if not reference.startswith("^")]
        waits = node.input[len(tensors) :]
        is_loop, is_branch = "body" in node.attr, "f" not in node.attr
        if is_loop:
            self._used[node.name] |= self._variables(node)
            return [*(tensors[number] for number in self._used[node.name]), *waits]
        used = frozenset(self._used[node.name])
        functions = [function.name for function in called_functions(node)]
        numbers = {n for name in functions for n in self._of_function(name, used).arguments}
        handed_on = tensors[1:] if is_branch else tensors
        return [*tensors[:is_branch], *(handed_on[number] for number in numbers), *waits]

    def _variables(self, loop: Any) -> frozenset[int]:
        """Return the variables that a loop has to compute: what is used of one may use others.

        The first counts the iterations, for the records.
        """
        condition, body = loop.attr["cond"].func.name, loop.attr["body"].func.name
        needed = self._of_function(condition, None).arguments | self._used[loop.name] | {0}
        while (more := needed | self._of_function(body, needed).arguments) != needed:
            needed = more
        return needed
