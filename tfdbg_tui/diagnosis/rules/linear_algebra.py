"""Matrices that cannot be factorised or inverted."""

from __future__ import annotations

from tfdbg_tui.diagnosis.rules.conditions import downgraded, finite_in, outside
from tfdbg_tui.diagnosis.rules.edits import Edit
from tfdbg_tui.diagnosis.rules.examples import INF, NAN, example, given
from tfdbg_tui.diagnosis.rules.model import Case, Match, Rule, ops


def _log_of_zero_determinant(case: Case) -> Match | None:
    return outside("a matrix whose determinant is 0", "neg_inf")(case)


RULES = (
    Rule(
        id="cholesky-not-positive",
        title="Cholesky of a matrix that is not positive definite",
        op_types=ops("Cholesky", "BatchCholesky"),
        test=downgraded(finite_in()),
        why="Rounding, or equal points in a kernel matrix, make the matrix singular.",
        fix="Add a small multiple of the unit matrix.",
        float64_helps=True,
        example=example("Cholesky", given(1, 2, 2, 1), out=[NAN, NAN, NAN, NAN]),
        edits=(
            Edit("cholesky(X)", "{F}({X} + 1e-4 * tf.eye(tf.shape({X})[-1], dtype={X}.dtype))"),
        ),
    ),
    Rule(
        id="singular-matrix",
        title="Inverse of a singular matrix",
        op_types=ops("MatrixInverse", "MatrixSolve", "MatrixTriangularSolve", "MatrixSolveLs",
            "BatchMatrixInverse", "TridiagonalSolve"),
        test=finite_in(),
        why="The matrix is singular, or so close to it that the result overflows.",
        fix="Add a small multiple of the unit matrix, or use tf.linalg.pinv or lstsq.",
        float64_helps=True,
        example=example("MatrixInverse", given(1, 2, 2, 4), out=[INF, -INF, -INF, INF]),
    ),
    Rule(
        id="log-of-zero-determinant",
        title="Log-determinant of a singular matrix",
        op_types=ops("LogMatrixDeterminant"),
        test=_log_of_zero_determinant,
        why="The determinant of a singular matrix is 0, and its log is -∞.",
        fix="Add a small multiple of the unit matrix.",
        example=example("LogMatrixDeterminant", given(1, 2, 2, 4), out=[-INF]),
    ),
    Rule(
        id="determinant-overflow",
        title="Determinant overflowed",
        op_types=ops("MatrixDeterminant"),
        test=finite_in(),
        why="The determinant of a large matrix leaves the range.",
        fix="Use tf.linalg.slogdet.",
        example=example("MatrixDeterminant", given(1e30, 0, 0, 1e30), out=[INF]),
    ),
    Rule(
        id="decomposition-failed",
        title="Matrix decomposition failed",
        op_types=ops(
            "Svd", "Qr", "SelfAdjointEigV2", "Eig", "Lu", "MatrixExponential", "MatrixLogarithm",
            "MatrixSquareRoot", "BandedTriangularSolve",
        ),
        test=finite_in(),
        why="The algorithm did not converge or the matrix is badly scaled.",
        fix="Scale the matrix, or add a small multiple of the unit matrix.",
        float64_helps=True,
        example=example("Qr", given(1e30, 1e30), out=[NAN, NAN]),
    ),
)  # fmt: skip
"""Rules about linear algebra."""
