"""What the data of a run means: alerts, dataflow, causes, rules, reports.  Headless.

`find_alerts` lists the bad tensors, `Dataflow` says what a tensor was computed from, and
`diagnose` gives the report that the terminal app and the command line show.  What they use is
named here, and imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_tui.lazy import lazily

if TYPE_CHECKING:
    from tfdbg_tui.diagnosis.alerts import AlertCounts as AlertCounts
    from tfdbg_tui.diagnosis.alerts import Alerts as Alerts
    from tfdbg_tui.diagnosis.alerts import find_alerts as find_alerts
    from tfdbg_tui.diagnosis.dataflow import Dataflow as Dataflow
    from tfdbg_tui.diagnosis.dataflow import Producer as Producer
    from tfdbg_tui.diagnosis.dataflow import Use as Use
    from tfdbg_tui.diagnosis.dataflow.calls import BRANCHES as BRANCHES
    from tfdbg_tui.diagnosis.dataflow.calls import LOOPS as LOOPS
    from tfdbg_tui.diagnosis.dataflow.links import PASS_THROUGH as PASS_THROUGH
    from tfdbg_tui.diagnosis.dataflow.neighbours import Neighbours as Neighbours
    from tfdbg_tui.diagnosis.dataflow.neighbours import Node as Node
    from tfdbg_tui.diagnosis.events import TensorEvent as TensorEvent
    from tfdbg_tui.diagnosis.events import device_of as device_of
    from tfdbg_tui.diagnosis.events import graph_id_of as graph_id_of
    from tfdbg_tui.diagnosis.events import name_of as name_of
    from tfdbg_tui.diagnosis.events import op_type_of as op_type_of
    from tfdbg_tui.diagnosis.events import stack_id_of as stack_id_of
    from tfdbg_tui.diagnosis.events import summary_of as summary_of
    from tfdbg_tui.diagnosis.events import typed_summary as typed_summary
    from tfdbg_tui.diagnosis.fleet.attempts import summarized as summarized
    from tfdbg_tui.diagnosis.fleet.joining import join as join
    from tfdbg_tui.diagnosis.fleet.one_process import findings_within as findings_within
    from tfdbg_tui.diagnosis.fleet.one_process import origin_of as origin_of
    from tfdbg_tui.diagnosis.fleet.report import FleetReport as FleetReport
    from tfdbg_tui.diagnosis.fleet.report import FleetRoot as FleetRoot
    from tfdbg_tui.diagnosis.fleet.report import JobReport as JobReport
    from tfdbg_tui.diagnosis.fleet.report import Unread as Unread
    from tfdbg_tui.diagnosis.fleet.summarizing import summarize as summarize
    from tfdbg_tui.diagnosis.fleet.summary import SummaryError as SummaryError
    from tfdbg_tui.diagnosis.fleet.summary import WorkerSummary as WorkerSummary
    from tfdbg_tui.diagnosis.fleet.summary import summaries_from_json as summaries_from_json
    from tfdbg_tui.diagnosis.fleet.summary import summaries_to_json as summaries_to_json
    from tfdbg_tui.diagnosis.fleet.words import fleet_to_text as fleet_to_text
    from tfdbg_tui.diagnosis.function_names import readable_function as readable_function
    from tfdbg_tui.diagnosis.heat import SIDES as SIDES
    from tfdbg_tui.diagnosis.heat import Cells as Cells
    from tfdbg_tui.diagnosis.heat import Heat as Heat
    from tfdbg_tui.diagnosis.heat import heat_of as heat_of
    from tfdbg_tui.diagnosis.heat_rows import HeatRow as HeatRow
    from tfdbg_tui.diagnosis.history import History as History
    from tfdbg_tui.diagnosis.history import history_of as history_of
    from tfdbg_tui.diagnosis.history import outputs_of_same_op as outputs_of_same_op
    from tfdbg_tui.diagnosis.history import tensors_of_line as tensors_of_line
    from tfdbg_tui.diagnosis.layers import LayersOfOps as LayersOfOps
    from tfdbg_tui.diagnosis.layers import breadcrumb as breadcrumb
    from tfdbg_tui.diagnosis.layers import output_of as output_of
    from tfdbg_tui.diagnosis.line_ops import LineOps as LineOps
    from tfdbg_tui.diagnosis.line_ops import find_line_ops as find_line_ops
    from tfdbg_tui.diagnosis.locations import Location as Location
    from tfdbg_tui.diagnosis.locations import columns_of as columns_of
    from tfdbg_tui.diagnosis.locations import file_name as file_name
    from tfdbg_tui.diagnosis.locations import is_library_frame as is_library_frame
    from tfdbg_tui.diagnosis.locations import location_of as location_of
    from tfdbg_tui.diagnosis.locations import user_frame as user_frame
    from tfdbg_tui.diagnosis.recording import BUFFERING as BUFFERING
    from tfdbg_tui.diagnosis.recording import Phase as Phase
    from tfdbg_tui.diagnosis.recording import RecordingStatus as RecordingStatus
    from tfdbg_tui.diagnosis.recording import StatusTracker as StatusTracker
    from tfdbg_tui.diagnosis.recording import duration as duration
    from tfdbg_tui.diagnosis.report import cards as cards
    from tfdbg_tui.diagnosis.report.advice import modes_of as modes_of
    from tfdbg_tui.diagnosis.report.bad_lines import BadLine as BadLine
    from tfdbg_tui.diagnosis.report.chain_links import Link as Link
    from tfdbg_tui.diagnosis.report.chains import Chain as Chain
    from tfdbg_tui.diagnosis.report.diagnosis import diagnose as diagnose
    from tfdbg_tui.diagnosis.report.explanation import Explanation as Explanation
    from tfdbg_tui.diagnosis.report.findings import Finding as Finding
    from tfdbg_tui.diagnosis.report.findings import Report as Report
    from tfdbg_tui.diagnosis.report.gaps import EMPTY as EMPTY
    from tfdbg_tui.diagnosis.report.gaps import RUNNING as RUNNING
    from tfdbg_tui.diagnosis.report.gaps import find_gaps as find_gaps
    from tfdbg_tui.diagnosis.report.gaps import is_blind as is_blind
    from tfdbg_tui.diagnosis.report.groups import AlertGroup as AlertGroup
    from tfdbg_tui.diagnosis.report.headroom import Headroom as Headroom
    from tfdbg_tui.diagnosis.report.schemas import SCHEMA_VERSION as SCHEMA_VERSION
    from tfdbg_tui.diagnosis.report.verdicts import verdict_word as verdict_word
    from tfdbg_tui.diagnosis.report.when import batch_text as batch_text
    from tfdbg_tui.diagnosis.report.when import computed_in_step as computed_in_step
    from tfdbg_tui.diagnosis.report.when import counted_text as counted_text
    from tfdbg_tui.diagnosis.report.when import iteration_of as iteration_of
    from tfdbg_tui.diagnosis.report.when import iteration_text as iteration_text
    from tfdbg_tui.diagnosis.report.when import step_before as step_before
    from tfdbg_tui.diagnosis.report.when import step_of as step_of
    from tfdbg_tui.diagnosis.report.when import when_text as when_text
    from tfdbg_tui.diagnosis.report.words import chain_to_text as chain_to_text
    from tfdbg_tui.diagnosis.report.words import narrowed as narrowed
    from tfdbg_tui.diagnosis.report.words import paragraph as paragraph
    from tfdbg_tui.diagnosis.report.words import to_text as to_text
    from tfdbg_tui.diagnosis.report.words import verdict_text as verdict_text
    from tfdbg_tui.diagnosis.rules import catalogue as catalogue
    from tfdbg_tui.diagnosis.values import bad_elements_text as bad_elements_text
    from tfdbg_tui.diagnosis.values import counts_text as counts_text
    from tfdbg_tui.diagnosis.values import index_text as index_text

_NAMES = {
    "tfdbg_tui.diagnosis.alerts": ("AlertCounts", "Alerts", "find_alerts"),
    "tfdbg_tui.diagnosis.dataflow": ("Dataflow", "Producer", "Use"),
    "tfdbg_tui.diagnosis.dataflow.calls": ("BRANCHES", "LOOPS"),
    "tfdbg_tui.diagnosis.dataflow.links": ("PASS_THROUGH",),
    "tfdbg_tui.diagnosis.dataflow.neighbours": ("Neighbours", "Node"),
    "tfdbg_tui.diagnosis.events": (
        "TensorEvent",
        "device_of",
        "graph_id_of",
        "name_of",
        "op_type_of",
        "stack_id_of",
        "summary_of",
        "typed_summary",
    ),
    "tfdbg_tui.diagnosis.fleet.attempts": ("summarized",),
    "tfdbg_tui.diagnosis.fleet.joining": ("join",),
    "tfdbg_tui.diagnosis.fleet.one_process": ("findings_within", "origin_of"),
    "tfdbg_tui.diagnosis.fleet.report": ("FleetReport", "FleetRoot", "JobReport", "Unread"),
    "tfdbg_tui.diagnosis.fleet.summarizing": ("summarize",),
    "tfdbg_tui.diagnosis.fleet.summary": (
        "SummaryError",
        "WorkerSummary",
        "summaries_from_json",
        "summaries_to_json",
    ),
    "tfdbg_tui.diagnosis.fleet.words": ("fleet_to_text",),
    "tfdbg_tui.diagnosis.function_names": ("readable_function",),
    "tfdbg_tui.diagnosis.report.headroom": ("Headroom",),
    "tfdbg_tui.diagnosis.heat": ("SIDES", "Cells", "Heat", "heat_of"),
    "tfdbg_tui.diagnosis.heat_rows": ("HeatRow",),
    "tfdbg_tui.diagnosis.history": (
        "History",
        "history_of",
        "outputs_of_same_op",
        "tensors_of_line",
    ),
    "tfdbg_tui.diagnosis.layers": ("LayersOfOps", "breadcrumb", "output_of"),
    "tfdbg_tui.diagnosis.line_ops": ("LineOps", "find_line_ops"),
    "tfdbg_tui.diagnosis.locations": (
        "Location",
        "columns_of",
        "file_name",
        "is_library_frame",
        "location_of",
        "user_frame",
    ),
    "tfdbg_tui.diagnosis.recording": (
        "BUFFERING",
        "Phase",
        "RecordingStatus",
        "StatusTracker",
        "duration",
    ),
    "tfdbg_tui.diagnosis.report.cards": ("cards",),
    "tfdbg_tui.diagnosis.report.advice": ("modes_of",),
    "tfdbg_tui.diagnosis.report.bad_lines": ("BadLine",),
    "tfdbg_tui.diagnosis.report.chains": ("Chain",),
    "tfdbg_tui.diagnosis.report.diagnosis": ("diagnose",),
    "tfdbg_tui.diagnosis.report.explanation": ("Explanation",),
    "tfdbg_tui.diagnosis.report.findings": ("Finding", "Report"),
    "tfdbg_tui.diagnosis.report.gaps": ("EMPTY", "RUNNING", "find_gaps", "is_blind"),
    "tfdbg_tui.diagnosis.report.groups": ("AlertGroup",),
    "tfdbg_tui.diagnosis.report.chain_links": ("Link",),
    "tfdbg_tui.diagnosis.report.schemas": ("SCHEMA_VERSION",),
    "tfdbg_tui.diagnosis.report.verdicts": ("verdict_word",),
    "tfdbg_tui.diagnosis.report.when": (
        "batch_text",
        "computed_in_step",
        "counted_text",
        "iteration_of",
        "iteration_text",
        "step_before",
        "step_of",
        "when_text",
    ),
    "tfdbg_tui.diagnosis.report.words": (
        "chain_to_text",
        "narrowed",
        "paragraph",
        "to_text",
        "verdict_text",
    ),
    "tfdbg_tui.diagnosis.rules.catalogue": ("catalogue",),
    "tfdbg_tui.diagnosis.values": ("bad_elements_text", "counts_text", "index_text"),
}

__all__ = [name for names in _NAMES.values() for name in names]
__getattr__ = lazily(__name__, _NAMES)
