"""Reference variables of TensorFlow 1 in functions: graphs that are imported and called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

import tfdbg_tui  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

v1 = tf.compat.v1
READ = "it may be overwritten before it is looked at"


@pytest.fixture(name="imported")
def _imported(tmp_path: Path) -> Iterator[Any]:
    """Return a function of everything in a graph with a reference variable, initialised."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        weight = v1.get_variable("weight", initializer=2.0, use_resource=False)
        v1.assign_add(weight, 1.0, name="update")
        tf.math.log(x * weight - 2.0, name="log")
        with tf.control_dependencies(["update"]):
            tf.identity(weight, name="after")
    graph_def = graph.as_graph_def()
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "ADAPTIVE", -1)
    function = v1.wrap_function(lambda: v1.import_graph_def(graph_def, name=""), [])
    function.prune([], function.graph.get_operation_by_name("weight/Assign"))()
    yield function
    tfdbg_tui.disable_dump_debug_info()


def test_a_function_that_reads_one_is_on_record(imported: Any, tmp_path: Path) -> None:
    assert imported.prune("x:0", "log:0")(tf.constant(1.0)).numpy() == float("-inf")
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(str(tmp_path))
    assert [root.op_type for root in tfdbg_tui.diagnose(run).roots] == ["Log"]
    assert not run.omissions


def test_what_it_reads_before_an_update_is_not(imported: Any, tmp_path: Path) -> None:
    both = imported.prune("x:0", ["weight/read:0", "after:0"])
    assert both(tf.constant(1.0))[1].numpy() == 3.0
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(str(tmp_path))
    assert [omission.reason for omission in run.omissions] == [READ]
    recorded = {trace.op_name for trace in run.graph_executions}
    assert "update" in recorded
    assert "weight/read" not in recorded
