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
        ("while_body_12", "while body"),
        ("while_1_cond_12", "while_1 cond"),
        ("while_cond_12_rewritten_grad_34", "while cond (gradient)"),
        ("sequential_1_lstm_1_while_body_12", "sequential_1_lstm_1 while body"),
        ("lstm_while_body_12_grad_34", "lstm while body (gradient)"),
        ("lstm_while_body_12_grad_34_grad_56_rewritten", "lstm while body (gradient)"),
        ("while_cond_1_true_12", "while cond_1 true"),
        ("cond_false_12_rewritten", "cond false"),
        ("indexed_case_branch1_12", "indexed_case branch1"),
        ("meanwhile_body_12", "meanwhile_body_12"),
        ("while_body", "while_body"),
        ("layer_1", "layer_1"),
        ("MatMul", "MatMul"),
        ("__inference_7", "7"),
        ("", ""),
    ],
)
def test_functions_are_called_as_their_author_calls_them(name: str, readable: str) -> None:
    assert readable_function(name) == readable
