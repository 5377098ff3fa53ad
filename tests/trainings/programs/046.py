import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)
V, L, D = 20, 12, 32
data = np.random.randint(0, V, (512, L))
labels = np.roll(data, 1, axis=1)  # copy with shift
labels[:, 0] = data[:, 0]


def block(x, i):
    a = layers.MultiHeadAttention(4, D // 4, name=f"attn_{i}")(x, x)
    x = layers.Add(name=f"res_a{i}")([x, a])
    f = layers.Dense(64, activation="gelu", name=f"ff1_{i}")(x)
    f = layers.Dense(D, name=f"ff2_{i}")(f)
    return layers.Add(name=f"res_f{i}")([x, f])


tok = keras.Input((L,), dtype="int32")
pos = keras.ops.arange(L)
x = layers.Embedding(V, D, name="tok_emb")(tok)
x = x + layers.Embedding(L, D, name="pos_emb")(pos)
for i in range(2):
    x = block(x, i)
logits = layers.Dense(V, name="lm_head")(x)
model = keras.Model(tok, logits)
opt = keras.optimizers.Adam(0.12)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = ce(yb, model(xb, training=True))
    g = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((data, labels)).shuffle(512, seed=1).repeat().batch(32)
for n, (xb, yb) in enumerate(ds.take(60)):
    loss = step(xb, yb)
    if n % 6 == 0:
        print("step %d  xent %.3f" % (n, loss))
