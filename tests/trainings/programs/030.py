import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(56)
LOSS_SCALE = 2.0**24


class Classifier(keras.Model):
    def __init__(self):
        super().__init__(name="classifier")
        self.c = layers.Conv1D(16, 5, activation="relu", dtype="mixed_float16", name="conv")
        self.p = layers.GlobalAveragePooling1D(dtype="mixed_float16", name="gap")
        self.o = layers.Dense(4, dtype="float32", name="out")

    def call(self, x):
        return self.o(self.p(self.c(x)))


X = np.random.randn(256, 40, 2).astype("float32")
Y = np.random.randint(0, 4, 256)
for c in range(4):
    X[Y == c, :, 0] += c
net = Classifier()
opt = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
skipped = 0
for step in range(80):
    b = np.random.randint(0, 256, 32)
    with tf.GradientTape() as tape:
        loss = loss_fn(Y[b], net(X[b]))
        scaled = loss * LOSS_SCALE
    grads = tape.gradient(scaled, net.trainable_variables)
    if all(np.isfinite(g.numpy()).all() for g in grads):
        opt.apply_gradients([(g / LOSS_SCALE, v) for g, v in zip(grads, net.trainable_variables)])
    else:
        skipped += 1
    if step % 8 == 0:
        print("step", step, "loss", float(loss))
