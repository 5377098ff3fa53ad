"""Hugging Face Transformers: a tiny BERT, fine-tuned with fit, and a tiny GPT-2 that samples."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, GPT2Config, TFBertForSequenceClassification, TFGPT2LMHeadModel

tf_keras.utils.set_random_seed(91)
sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
model = TFBertForSequenceClassification(BertConfig(vocab_size=50, intermediate_size=32, **sizes))
tokens = np.random.randint(1, 50, size=(16, 8))
x = {"input_ids": tokens, "attention_mask": (tokens < 40).astype("int32")}
model.compile(
    tf_keras.optimizers.legacy.Adam(1e-3),
    loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
history = model.fit(x, tokens[:, 0] % 2, batch_size=8, epochs=2, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
writer = TFGPT2LMHeadModel(
    GPT2Config(vocab_size=30, n_positions=12, n_embd=16, n_layer=1, n_head=2, eos_token_id=0)
)
sampled = writer.generate(
    tf.constant([[3, 4]]),
    do_sample=True,
    top_k=5,
    top_p=0.9,
    max_length=8,
    pad_token_id=0,
    seed=[1, 2],
)
print("result sampled", sampled.numpy().tolist())
