"""Matrices that cannot be factorised or inverted."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import downgraded, finite_in, outside
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops


def _log_of_zero_determinant(case: Case) -> Match | None:
    return outside("a matrix whose determinant is 0", "neg_inf")(case)


RULES = (
    Rule(
        "cholesky-not-positive",
        "Cholesky of a matrix that is not positive definite",
        ops("Cholesky", "BatchCholesky"),
        downgraded(finite_in()),
        "Rounding, or equal points in a kernel matrix, make the matrix singular.",
        "Add a small multiple of the unit matrix, or use float64.",
        (
            Edit("cholesky(X)", "{F}({X} + 1e-4 * tf.eye(tf.shape({X})[-1], dtype={X}.dtype))"),
        ),
    ),
    Rule(
        "singular-matrix",
        "Inverse of a singular matrix",
        ops("MatrixInverse", "MatrixSolve", "MatrixTriangularSolve", "MatrixSolveLs",
            "BatchMatrixInverse", "TridiagonalSolve"),
        finite_in(),
        "The matrix is singular, or so close to it that the result overflows.",
        "Add a small multiple of the unit matrix, use tf.linalg.pinv or lstsq, or float64.",
    ),
    Rule(
        "log-of-zero-determinant",
        "Log-determinant of a singular matrix",
        ops("LogMatrixDeterminant"),
        _log_of_zero_determinant,
        "The determinant of a singular matrix is 0, and its log is -∞.",
        "Add a small multiple of the unit matrix.",
    ),
    Rule(
        "determinant-overflow",
        "Determinant overflowed",
        ops("MatrixDeterminant"),
        finite_in(),
        "The determinant of a large matrix leaves the range.",
        "Use tf.linalg.slogdet.",
    ),
    Rule(
        "decomposition-failed",
        "Matrix decomposition failed",
        ops("Svd", "Qr", "SelfAdjointEigV2", "Eig", "Lu", "MatrixExponential", "MatrixLogarithm",
            "MatrixSquareRoot", "BandedTriangularSolve"),
        finite_in(),
        "The algorithm did not converge or the matrix is badly scaled.",
        "Scale the matrix, add a small multiple of the unit matrix, or use float64.",
    ),
)  # fmt: skip
"""Rules about linear algebra."""
