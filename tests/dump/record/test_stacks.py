"""The code location of a graph op is what TensorFlow says, but is noted when the op is made."""

from __future__ import annotations

import importlib
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

from tensorflow.python.framework import ops  # noqa: E402

import tfdbg_tui  # noqa: E402
from tfdbg_tui.dump.errors import BadTensorError  # noqa: E402
from tfdbg_tui.dump.observe import graphs  # noqa: E402
from tfdbg_tui.dump.tensorflow import autograph, locations, own_frames  # noqa: E402
from tfdbg_tui.wire import events, filesets, tfrecord  # noqa: E402

Frame = tuple[str, int, str]


def program() -> None:
    weights = tf.Variable([1.0, 2.0])

    @tf.function
    def loops(x: Any) -> Any:
        total = tf.zeros([])
        for i in tf.range(3):
            if tf.reduce_sum(x) > 1.0:
                total += tf.reduce_sum(x) * tf.cast(i, tf.float32)
        return total

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            parts = [part * 2.0 for part in tf.unstack(x * weights)]
            loss = loops(weights) + tf.add_n(parts) + tf.map_fn(lambda y: y * y, weights)[0]
        return tape.gradient(loss, weights)

    step(tf.ones([2]))
    thread = threading.Thread(target=step, args=[tf.ones([1, 2])])
    thread.start()
    thread.join()
    list(tf.data.Dataset.range(2).map(lambda x: tf.cast(x, tf.float32) / 2.0))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.math.log(tf.zeros([1])))


def messages(root: Path, suffix: str, kind: Any, field: str) -> list[Any]:
    """Return the recorded messages of a kind."""
    (file_set,) = filesets.find_file_sets(str(root))
    data = Path(file_set.path(suffix)).read_bytes()
    decoded = [events.DebugEvent.decode(payload) for _, payload in tfrecord.records(data)]
    return [kind.decode(getattr(e, field)) for e in decoded if getattr(e, field)]


def frames_of(root: Path, ops: list[Any]) -> list[list[Frame]]:
    """Return the frames of each of some recorded ops, outermost first."""
    files = messages(root, filesets.SOURCE_FILES, events.SourceFile, "source_file")
    places: dict[str, Frame] = {}
    kind = events.StackFrameWithId
    for frame in messages(root, filesets.STACK_FRAMES, kind, "stack_frame_with_id"):
        at = frame.file_line_col
        places[frame.id] = files[at.file_index].file_path, at.line, at.func
    locations = [events.CodeLocation.decode(op.code_location) for op in ops]
    return [[places[frame] for frame in location.stack_frame_ids] for location in locations]


def recorded_frames(root: Path) -> list[list[Frame]]:
    """Return the frames of each recorded op of graphs, in the order of recording."""
    return frames_of(
        root, messages(root, filesets.GRAPHS, events.GraphOpCreation, "graph_op_creation")
    )


def test_locations_are_those_of_tensorflow_which_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[Any] = []
    record_op = graphs.GraphDefinitions._record_op
    traceback: Any = ops.Operation.traceback
    asked: list[str] = []

    def recording(self: Any, graph: Any, state: Any, op: Any) -> Any:
        recorded.append(op)
        return record_op(self, graph, state, op)

    def asking(op: Any) -> Any:
        asked.append(op.type)
        return traceback.fget(op)

    monkeypatch.setattr(graphs.GraphDefinitions, "_record_op", recording)
    monkeypatch.setattr(ops.Operation, "traceback", property(asking))
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    program()
    tfdbg_tui.disable_dump_debug_info()
    assert set(asked) <= {"Placeholder"}  # TensorFlow makes some of these in C++.
    expected = [
        [
            # AutoGraph has no name for a lambda.
            (locations.absolute(frame.filename), frame.lineno, frame.name or "<lambda>")
            for frame in traceback.fget(op) or ()
            if not frame.filename.startswith(own_frames.OWN_DIRECTORY)
        ]
        for op in recorded
    ]
    assert len(recorded) > 100
    both = list(zip(recorded_frames(tmp_path), expected, strict=True))
    known = [(ours, theirs) for ours, theirs in both if theirs]  # of what is made in C++ it is not
    assert len(known) > 100
    assert all(ours == theirs for ours, theirs in known)


def test_eager_ops_of_the_same_calls_are_told_apart_in_any_order(tmp_path: Path) -> None:
    """The stacks differ only in code that is the same, or in a line far out."""
    first = lambda x: tf.math.sin(x)  # noqa: E731
    second = lambda x: tf.math.sin(x)  # noqa: E731

    def inner(function: Any) -> None:
        function(x)

    def outer(function: Any) -> None:
        inner(function)
        inner(function)  # again

    x = tf.ones([2])
    called = [(first, second)[number] for number in (0, 0, 1, 0, 1, 1, 0, 0, 1, 0)]
    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    for function in called:
        outer(function)
    tfdbg_tui.disable_dump_debug_info()
    made = messages(tmp_path, filesets.EXECUTION, events.Execution, "execution")
    lines = [
        {name: line for path, line, name in stack if path == __file__}
        for stack in frames_of(tmp_path, made)
    ]
    begin = inspect.getsourcelines(outer)[1]
    assert [(line["outer"], line["<lambda>"]) for line in lines] == [
        (begin + number, function.__code__.co_firstlineno)
        for function in called
        for number in (1, 2)
    ]


def test_replicas_of_a_strategy_run_lines_of_the_user(tmp_path: Path) -> None:
    """They run in threads of their own, of which TensorFlow does not know what AutoGraph did."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])

    @tf.function
    def evaluate(x: Any) -> Any:
        def replica(x: Any) -> Any:
            return tf.math.log(x) if tf.reduce_sum(x) > 0.0 else x  # not this one

        return strategy.run(replica, args=(x,))

    @tf.function
    def train(x: Any) -> Any:
        def replica(x: Any) -> Any:
            return tf.math.log(x) if tf.reduce_sum(x) > 0.0 else x  # this one

        return strategy.run(replica, args=(x,))

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    train(tf.ones([1]))
    tfdbg_tui.disable_dump_debug_info()
    frames = {frame for stack in recorded_frames(tmp_path) for frame in stack}
    lines = Path(__file__).read_text("utf-8").splitlines()
    told = [lines[line - 1] for path, line, _ in frames if path == __file__]
    assert any(text.endswith("# this one") for text in told)
    assert not any("__autograph_generated_file" in path for path, _, _ in frames)


def test_lines_that_end_with_a_backslash_are_counted(tmp_path: Path) -> None:
    """AutoGraph joins them to the next ones before it counts lines."""

    @tf.function
    def step(x: Any) -> Any:
        # fmt: off
        a = x * 2.0 + \
            1.0
        b = tf.stack([a, \
            x])
        # fmt: on
        return tf.math.log(b)  # this one

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    step(tf.ones([1]))
    tfdbg_tui.disable_dump_debug_info()
    frames = {frame for stack in recorded_frames(tmp_path) for frame in stack}
    lines = Path(__file__).read_text("utf-8").splitlines()
    told = {lines[line - 1].strip() for path, line, name in frames if name == "step"}
    assert told == {"a = x * 2.0 + \\", "b = tf.stack([a, \\", "return tf.math.log(b)  # this one"}


def test_ops_from_before_the_dump_have_locations(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        log = tf.math.log(tf.zeros([1]))
    for number, name in enumerate(("first", "second")):
        tfdbg_tui.enable_dump_debug_info(str(tmp_path / name), "CONCISE_HEALTH", -1)
        with graph.as_default(), tf.compat.v1.Session() as session:
            log = tf.math.log(log)
            session.run(log)
        tfdbg_tui.disable_dump_debug_info()
        frames = recorded_frames(tmp_path / name)
        assert len(frames) == 3 + number
        for stack in frames:
            assert __file__ in {path for path, _, _ in stack}


def test_packages_of_another_environment_are_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of a virtual environment that was made with --system-site-packages."""
    packages = tmp_path / "python3" / "dist-packages"
    packages.mkdir(parents=True)
    (packages / "takes_logs.py").write_text(
        "import tensorflow as tf\nlog = lambda x: tf.math.log(x)\n"
    )
    monkeypatch.syspath_prepend(str(packages))
    takes_logs = importlib.import_module("takes_logs")
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "logdir"), "ADAPTIVE", -1, on_bad="raise")
    try:
        with pytest.raises(BadTensorError, match=r"created at .*test_stacks"):
            takes_logs.log(tf.zeros([1]))
    finally:
        tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(str(tmp_path / "logdir"))
    kept = {Path(path).name for host, path in run.source_paths if run.source(host, path).lines}
    assert Path(__file__).name in kept
    assert "takes_logs.py" not in kept


def test_copies_of_a_function_are_of_their_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AutoGraph converts one of them, as Python takes their code for equal."""
    monkeypatch.syspath_prepend(str(tmp_path))
    files = [tmp_path / f"copied_loss_{number}.py" for number in (1, 2)]
    tfdbg_tui.enable_dump_debug_info(str(tmp_path / "logdir"), "CONCISE_HEALTH", -1)
    for path in files:
        path.write_text("import tensorflow as tf\ndef loss(x):\n    return tf.math.log(x)\n")
    first, second = (importlib.import_module(path.stem) for path in files)
    tf.function(first.loss)(tf.ones([1]))
    tf.function(second.loss)(tf.ones([1]))
    tfdbg_tui.disable_dump_debug_info()
    frames = {frame for stack in recorded_frames(tmp_path / "logdir") for frame in stack}
    assert {(str(path), 3, "loss") for path in files} <= frames


def test_what_autograph_has_made_is_of_the_users_file() -> None:
    files: list[str] = []

    @tf.function
    def step(x: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:
            files.extend(frame.filename for frame in inspect.stack(0))
            x = x * 2.0
        return x

    step(tf.constant(1.0))
    generated = next(path for path in files if "__autograph_generated_file" in path)
    assert autograph.users_file(generated) == __file__
    assert autograph.users_file(__file__) == __file__


def test_each_op_is_of_an_expression(tmp_path: Path) -> None:
    """AutoGraph's is found in what it was made of, also on the later lines of a statement."""

    @tf.function
    def loss(p: Any, really: Any = True) -> Any:
        # fmt: off
        a = tf.reduce_sum(
            p * tf.math.log(p)
            + (1 - p) * tf.math.log(1 - p, name="other"))
        b = tf.exp(a) if really and tf.sin(a) < 2.0 else a; c = tf.exp(-b)  # noqa: E702
        # fmt: on
        return [tf.tan(x) for x in (b, c)]

    tfdbg_tui.enable_dump_debug_info(str(tmp_path), "CONCISE_HEALTH", -1)
    loss(tf.constant([0.5]))
    print("é", tf.sqrt(4.0) + tf.sqrt(9.0) * tf.sqrt([1.0, 2.0]))
    tfdbg_tui.disable_dump_debug_info()
    run = tfdbg_tui.open_run(str(tmp_path))
    lines = Path(__file__).read_text("utf-8").splitlines()
    stacks = [(op.op_type, op.stack_id) for g in run.graphs.values() for op in g.ops.values()]
    stacks += [(execution.op_type, execution.stack_id) for execution in run.executions]
    found = set()
    for op_type, stack_id in stacks:
        frame = [frame for frame in run.stack(stack_id) if frame.path == __file__][-1]
        columns = frame.expression.columns(lines) if frame.expression else None
        found.add((op_type, lines[frame.line - 1][slice(*columns)] if columns else None))
    assert found >= {
        *(("Log", "tf.math.log(p)"), ("Log", 'tf.math.log(1 - p, name="other")')),
        *(("Sub", "1 - p"), ("Mul", "p * tf.math.log(p)"), ("Exp", "tf.exp(a)")),
        *(("Exp", "tf.exp(-b)"), ("Neg", "-b"), ("Sin", "tf.sin(a)"), ("Tan", "tf.tan(x)")),
        *(("Sum", "tf.reduce_sum("), ("Sqrt", "tf.sqrt(4.0)"), ("Sqrt", "tf.sqrt([1.0, 2.0])")),
    }
    assert not any(text is None for op_type, text in found if op_type in ("Log", "Exp", "Sqrt"))
