"""Which calls run at a time, and so what causes the executions of graphs at that time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfdbg_tui.dump.encode.causes import Cause, Measured

if TYPE_CHECKING:
    from tfdbg_tui.dump.observe.run_order import RunOrder
    from tfdbg_tui.dump.tensorflow.session_stages import SessionStage


@dataclass(slots=True)
class Call:
    """A function call, or a run of a session, in progress.

    Attributes:
        name: The function's.
        serial: Number of its execution.
        graphs: Those that it can run.
        device: The device that it runs on, where that is another process's; "" for here.
        step: Training step, where it is the program's own count.
        measured: Of what in it the extremes are recorded.
        bad: The first bad tensor in its graphs: number, and message for the program.
        order: Puts what is taken of a run of a session in order; None of a function.
        stage: What the loops of a run of a session put rows into; None where there are none.
        copy: The function that runs in place of the program's, which has to be there so long.
    """

    name: str
    serial: int
    graphs: frozenset[str] = field(default_factory=frozenset)
    device: str = ""
    step: int | None = None
    measured: Measured = Measured.NOTHING
    bad: tuple[int, str] | None = None
    order: RunOrder | None = None
    stage: SessionStage | None = None
    copy: object = None


@dataclass(frozen=True, slots=True)
class Moment:
    """What ran at a time.

    Attributes:
        wall_time: When that was.
        step: The training step that the program was in.
        calls: The calls in progress.
    """

    wall_time: float
    step: int | None
    calls: tuple[Call, ...]

    def cause_of(self, graph_id: str, device: str) -> Cause:
        """Return what causes an execution of a graph on a device of another process, or here."""
        found = [call for call in self.calls if graph_id in call.graphs and call.device == device]
        if len(found) == 1:
            return self._cause(found[0])
        measured = max((call.measured for call in found), default=Measured.NOTHING)
        return self._cause(None)._replace(measured=measured)

    def cause_by(self, serial: int) -> Cause:
        """Return what causes an execution that is known to belong to a call."""
        found = (call for call in self.calls if call.serial == serial)
        return self._cause(next(found, None))._replace(serial=serial)

    def _cause(self, call: Call | None) -> Cause:
        if call is None:
            return Cause(self.wall_time, self.step, 0)
        step = self.step if call.step is None else call.step
        return Cause(self.wall_time, step, call.serial, call.measured)


@dataclass(slots=True)
class LoneCall:
    """A call during which no other one runs.

    Attributes:
        call: The call.
        step: The training step that the program is in.
        end: When it has ended; 0 while it runs.
    """

    call: Call
    step: int | None
    end: float = 0.0

    def moment(self) -> Moment:
        """Return what ran at its end, or what runs now."""
        return Moment(self.end or time.time(), self.step, (self.call,))
