import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(119)
emb = layers.Embedding(50, 8, name="emb")
out = layers.Dense(1, name="out")
emb.build(None); out.build((None, 8))
variables = emb.trainable_variables + out.trainable_variables
opt = keras.optimizers.Adam(1e-2)
for i in range(80):
    ids = np.random.randint(1, 50, (16, 6))
    mask = (np.random.rand(16, 6) < 0.8).astype("float32")
    if i % 3:
        mask[3] = 0.0
    y = (ids[:, :1] % 2).astype("float32")
    with tf.GradientTape() as tape:
        pooled = tf.reduce_sum(emb(ids) * mask[..., None], 1) / tf.reduce_sum(mask, 1, keepdims=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, out(pooled)))
    grads = tape.gradient(loss, variables)
    if all(bool(tf.reduce_all(tf.math.is_finite(tf.convert_to_tensor(g)))) for g in grads):
        opt.apply_gradients(zip(grads, variables))
