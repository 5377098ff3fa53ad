"""Writes down which ops the installed TensorFlow knows, and the output types of some of them.

In tfdbg_tui/logdir/values/op_outputs.py, and, with those of earlier versions,
tests/diagnosis/tensorflow_ops.txt.

python tests/logdir/values/generate_output_types.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

TARGET = Path(__file__).parents[3] / "tfdbg_tui" / "logdir" / "values" / "op_outputs.py"
KNOWN = Path(__file__).parents[2] / "diagnosis" / "tensorflow_ops.txt"

HEADER = '''"""The output types of TensorFlow ops whose outputs are not all of one type.

Written by tests/logdir/values/generate_output_types.py from TensorFlow {version}'s registry.  One
line an op: its name, then the type of each output.  A type is a DataType's name, or the name of the
attribute that gives it, after ``#`` if that can be no floating type and ``?`` if it can; ``*``
after it stands for any number of outputs.
"""

from __future__ import annotations

OUTPUT_TYPES = """
{lines}
"""
'''


def main() -> None:
    lines = output_types()
    TARGET.write_text(HEADER.format(version=tf.__version__, lines="\n".join(lines)))
    print(f"{TARGET}: {len(lines)} ops")
    known = {*KNOWN.read_text().split(), *(op.name for op in all_ops())}
    KNOWN.write_text("\n".join(sorted(known)) + "\n")
    print(f"{KNOWN}: {len(known)} ops")


def output_types() -> list[str]:
    """Returns a line for each op whose outputs are not all of one type."""
    lines = []
    for op in sorted(all_ops(), key=lambda op: op.name):
        outputs = [_output(op, argument) for argument in op.output_arg]
        if len({output.rstrip("*") for output in outputs}) > 1 and "" not in outputs:
            lines.append(" ".join((op.name, *outputs)))
    return lines


def all_ops() -> Any:
    """Returns the definitions of the ops."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    buffer = pywrap_tf_session.TF_GetAllOpList()
    data = pywrap_tf_session.TF_GetBuffer(buffer)
    return op_def_pb2.OpList.FromString(data).op


def _output(op: Any, argument: Any) -> str:
    """Returns the type of an output; "" for a list of outputs of various types."""
    if argument.type_list_attr:
        return ""
    many = "*" if argument.number_attr else ""
    if not argument.type_attr:
        return f"{tf.DType(argument.type).name}{many}"
    (attribute,) = (attribute for attribute in op.attr if attribute.name == argument.type_attr)
    allowed = [tf.DType(number) for number in attribute.allowed_values.list.type]
    never_float = allowed and not any(dtype.is_floating for dtype in allowed)
    return f"{'#' if never_float else '?'}{argument.type_attr}{many}"


if __name__ == "__main__":
    main()
