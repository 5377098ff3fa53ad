"""KerasHub: a tiny GPT-2 trained on token ids, then greedy generation with its cache."""

import keras
import keras_hub
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(21)
backbone = keras_hub.models.GPT2Backbone(
    vocabulary_size=40,
    num_layers=2,
    num_heads=2,
    hidden_dim=16,
    intermediate_dim=32,
    max_sequence_length=10,
)
model = keras_hub.models.GPT2CausalLM(backbone, preprocessor=None)
tokens = np.tile(np.arange(1, 12), (16, 1)) + np.random.randint(0, 3, size=(16, 1))
x = {"token_ids": tokens[:, :10], "padding_mask": np.ones((16, 10), "int32")}
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(loss=loss, optimizer=keras.optimizers.Adam(1e-2), sampler="greedy", jit_compile=False)
history = model.fit(x, tokens[:, 1:], batch_size=8, epochs=3, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
prompt = {
    "token_ids": tf.constant([[3, 4, 5, 0, 0, 0, 0, 0]]),
    "padding_mask": tf.constant([[1, 1, 1, 0, 0, 0, 0, 0]]),
}
print(
    "result generated", np.array(model.generate(prompt, stop_token_ids=None)["token_ids"]).tolist()
)
