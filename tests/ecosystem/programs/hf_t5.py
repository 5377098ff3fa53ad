"""Hugging Face Transformers: a tiny T5 from its configuration: a training step and generation."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
import tf_keras
from transformers import T5Config, TFT5ForConditionalGeneration

tf_keras.utils.set_random_seed(90)
settings = T5Config(
    vocab_size=40, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0
)
model = TFT5ForConditionalGeneration(settings)
tokens = tf.constant([[5, 6, 7, 1, 0, 0], [9, 8, 7, 6, 5, 1]])
mask = tf.cast(tokens != 0, tf.int32)
labels = tf.where(tokens == 0, -100, tokens)
optimizer = tf_keras.optimizers.legacy.Adam(0.01)


@tf.function
def step():
    with tf.GradientTape() as tape:
        outputs = model(input_ids=tokens, attention_mask=mask, labels=labels, training=True)
        loss = tf.reduce_mean(outputs.loss)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


print("result losses", [float(step()) for _ in range(4)])
outputs = model(input_ids=tokens, attention_mask=mask, decoder_input_ids=tokens)
print("result logits", outputs.logits.numpy()[0, 0, :8].tolist())
print(
    "result generated", model.generate(tokens, attention_mask=mask, max_length=6).numpy().tolist()
)
