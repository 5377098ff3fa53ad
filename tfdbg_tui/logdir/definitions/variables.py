"""Variables of layers and optimizers, and of which of them the program asks gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdbg_tui.logdir.definitions.graphs import TensorRef
    from tfdbg_tui.logdir.layers import Layer


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a layer or an optimizer, or one whose gradient is asked for.

    Attributes:
        handle: Eager tensor id of its handle, by which executions and captures name it.
        file_set: Number of the process that it is of: each numbers its tensors by itself.
        name: Its name.
        layer: The innermost layer that has it; None where it is of none, or that was not called.
        trainable: Whether the program lets it be trained.
        optimizer: Name of the optimizer that has made it; "" for others.
        slot_of: Of what an optimizer keeps of a variable: the handle of that variable, else 0.
    """

    handle: int
    file_set: int
    name: str
    layer: Layer | None
    trainable: bool
    optimizer: str = ""
    slot_of: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from all others of a run: file set and handle."""
        return self.file_set, self.handle


@dataclass(frozen=True, slots=True)
class GradientRequest:
    """For which variables a tape was asked for gradients, at a place; handles of variables.

    Attributes:
        file_set: Number of the process.
        asked: The variables.
        unconnected: Those of them that have no gradient.
        left_out: Those that the tape has seen read, that may be trained and are not asked for.
        target_graph_id: The graph of what is differentiated; "" outside of graphs.
        target: Its name there; None outside.
        target_id: Of an eager tensor its id, else 0.
        stack_id: Argument of `Run.stack`: where the tape was asked.
    """

    file_set: int
    asked: tuple[int, ...]
    unconnected: tuple[int, ...]
    left_out: tuple[int, ...]
    target_graph_id: str = ""
    target: TensorRef | None = None
    target_id: int = 0
    stack_id: int | None = None
