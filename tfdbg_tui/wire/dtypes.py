"""Tensor element types: TensorFlow's enum numbers and names.

Source: tensorflow/core/framework/types.proto.
"""

from __future__ import annotations

_NAMES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    26: "float8_e4m3fnuz",
    27: "float8_e4m3b11fnuz",
    28: "float8_e5m2fnuz",
    29: "int4",
    30: "uint4",
    31: "int2",
    32: "uint2",
}

_REF_OFFSET = 100


def dtype_name(number: int) -> str:
    """Return TensorFlow's name of a DataType number; ``dtype 77`` for one it does not define."""
    if number > _REF_OFFSET and number - _REF_OFFSET in _NAMES:
        return _NAMES[number - _REF_OFFSET] + "_ref"
    return _NAMES.get(number, f"dtype {number}")


NUMPY_NAMES: dict[int, str] = {
    1: "<f4",
    2: "<f8",
    3: "<i4",
    4: "u1",
    5: "<i2",
    6: "i1",
    8: "<c8",
    9: "<i8",
    10: "?",
    17: "<u2",
    18: "<c16",
    19: "<f2",
    22: "<u4",
    23: "<u8",
}
"""Numpy's type string for each DataType number that numpy has a native type for."""

BFLOAT16 = 14

MAX_FINITE: dict[str, float] = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e4m3b11fnuz": 30.0,
}
"""Largest finite value of each floating type."""
