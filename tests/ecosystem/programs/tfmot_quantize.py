"""Model optimisation: pruning and quantisation-aware training of a small Keras 2 model."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow_model_optimization as tfmot
import tf_keras

tf_keras.utils.set_random_seed(110)
x = np.random.normal(size=(64, 6)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
layers = [tf_keras.layers.Dense(8, "relu", input_shape=(6,)), tf_keras.layers.Dense(1, "sigmoid")]
model = tf_keras.Sequential(layers)
schedule = tfmot.sparsity.keras.PolynomialDecay(0.2, 0.6, begin_step=0, end_step=8)
pruned = tfmot.sparsity.keras.prune_low_magnitude(model, pruning_schedule=schedule)
pruned.compile("adam", "binary_crossentropy")
history = pruned.fit(
    x, y, epochs=2, verbose=0, callbacks=[tfmot.sparsity.keras.UpdatePruningStep()]
)
print("result pruned", [float(value) for value in history.history["loss"]])
quantized = tfmot.quantization.keras.quantize_model(tfmot.sparsity.keras.strip_pruning(pruned))
quantized.compile("adam", "binary_crossentropy")
history = quantized.fit(x, y, epochs=2, verbose=0)
print("result quantized", [float(value) for value in history.history["loss"]])
