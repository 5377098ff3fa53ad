"""Saving, loading and exporting; what is exported runs in a fresh process."""

import subprocess
import sys

import keras
import numpy as np
import tensorflow as tf
from keras import layers

FRESH = """
import numpy as np, tensorflow as tf
model = tf.saved_model.load("exported")
print(model.serve(tf.constant(np.load("x.npy"))).numpy().ravel().tolist())
loaded = tf.saved_model.load("module")
print(loaded.scale(tf.constant([1.0, 2.0])).numpy().tolist())
"""

keras.utils.set_random_seed(11)
x = np.random.normal(size=(32, 4)).astype("float32")
np.save("x.npy", x[:3])
model = keras.Sequential(
    [keras.Input((4,)), layers.Dense(8, activation="relu"), layers.Dropout(0.1), layers.Dense(2)]
)
model.compile("adam", "mse")
model.fit(x, x[:, :2], epochs=2, verbose=0)
model.save("model.keras")
loaded = keras.models.load_model("model.keras")
print("result loaded", loaded.predict(x[:3], verbose=0).ravel().tolist())
loaded.fit(x, x[:, :2], epochs=1, verbose=0)
print("result further", loaded.predict(x[:3], verbose=0).ravel().tolist())
loaded.export("exported", verbose=False)


class Scaler(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(3.0)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def scale(self, values):
        return tf.math.log(values) * self.factor


scaler = Scaler()
print("result scaled", scaler.scale(tf.constant([1.0, 2.0])).numpy().tolist())
tf.saved_model.save(scaler, "module")
fresh = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True)
print("result fresh", fresh.returncode, fresh.stdout.split("\n"))
if fresh.returncode:
    print(fresh.stderr[-2000:])
