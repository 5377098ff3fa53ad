import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(57)
rng = np.random.default_rng(57)


class PoolAttn(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = layers.Embedding(40, 16, dtype="mixed_float16", name="emb")
        self.score = layers.Dense(1, dtype="mixed_float16", name="score")
        self.out = layers.Dense(2, dtype="float32", name="out")

    def call(self, tok):
        e = self.emb(tok)
        s = tf.squeeze(self.score(e), -1)
        s = tf.where(tok > 0, s, tf.constant(-np.inf, tf.float16))
        a = tf.nn.softmax(s, axis=-1)
        return self.out(tf.einsum("bt,btd->bd", a, e))


def batch():
    tok = rng.integers(1, 40, (16, 8))
    length = rng.integers(0, 12, 16)
    tok[np.arange(8)[None] >= length[:, None]] = 0
    lab = (tok > 20).sum(1) > (tok > 0).sum(1) / 2
    return tf.constant(tok), tf.constant(lab.astype("int32"))


net = PoolAttn()
opt = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(2e-3))
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
for it in range(80):
    tok, lab = batch()
    with tf.GradientTape() as tape:
        per = ce(lab, net(tok))
        keep = tf.reduce_any(tok > 0, axis=1)
        loss = tf.reduce_mean(tf.boolean_mask(per, keep))
        sl = opt.scale_loss(loss)
    g = tape.gradient(sl, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    if it % 8 == 0:
        print(it, float(loss))
