"""Names of functions without what TensorFlow adds to them."""

from __future__ import annotations

import pytest

from tfdbg_tui.diagnosis.function_names import readable_function


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("__inference_loss_12", "loss"),
        ("__forward_loss_947", "loss (forward)"),
        ("__inference___backward_model_194_313", "model (gradient)"),
        ("__backward_layer_1_194", "layer_1 (gradient)"),
        ("layer_1", "layer_1"),
        ("MatMul", "MatMul"),
        ("__inference_7", "7"),
        ("", ""),
    ],
)
def test_functions_are_called_as_their_author_calls_them(name: str, readable: str) -> None:
    assert readable_function(name) == readable
