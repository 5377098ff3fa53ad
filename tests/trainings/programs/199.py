import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(199)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="gelu"), keras.layers.LayerNormalization(), keras.layers.Dense(1)])
schedule = keras.optimizers.schedules.CosineDecay(0.0, 100, warmup_target=5e-3, warmup_steps=20)
model.compile(keras.optimizers.AdamW(schedule, weight_decay=0.05), "mse")
x = np.random.randn(640, 10).astype("float32")
model.fit(x, x.sum(1, keepdims=True), batch_size=16, epochs=3, verbose=2)
