import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(201)
V, L, D = 16, 10, 32


@keras.saving.register_keras_serializable()
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak=5e-3, warm=40):
        self.peak, self.warm = peak, warm

    def __call__(self, step):
        s = tf.cast(step, tf.float32) + 1.0
        return self.peak * tf.minimum(s / self.warm, tf.sqrt(self.warm / s))

    def get_config(self):
        return {"peak": self.peak, "warm": self.warm}


tok = keras.Input((L,), dtype="int32", name="tokens")
x = layers.Embedding(V, D, name="emb")(tok) + layers.Embedding(L, D, name="pos")(keras.ops.arange(L))
for i in range(2):
    n = layers.LayerNormalization(name=f"ln_a{i}")(x)
    x = x + layers.MultiHeadAttention(2, 16, name=f"mha{i}")(n, n)
    n = layers.LayerNormalization(name=f"ln_f{i}")(x)
    x = x + layers.Dense(D, name=f"down{i}")(layers.Dense(64, activation="gelu", name=f"up{i}")(n))
out = layers.Dense(V, name="lm")(layers.LayerNormalization(name="ln_out")(x))
model = keras.Model(tok, out)
X = np.random.randint(0, V, (512, L))
model.compile(keras.optimizers.Adam(WarmUp()), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(X, X[:, ::-1].copy(), batch_size=32, epochs=8, verbose=2)
