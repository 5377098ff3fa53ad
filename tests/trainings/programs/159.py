import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(159)
base = keras.Sequential([keras.Input((20,)), layers.Dense(32, activation="relu", name="b1"), layers.Dense(32, activation="relu", name="b2")], name="base")
head = layers.Dense(3, name="head")
head.build((None, 32))
x, y = np.random.randn(300, 20).astype("float32"), np.random.randint(0, 3, 300)
opt = keras.optimizers.Adam(1e-3)


@tf.function
def finetune(b, t):
    with tf.GradientTape() as tape:
        logits = head(base(b, training=True))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(t, logits))
    grads = tape.gradient(loss, head.trainable_variables)
    opt.apply_gradients(zip(grads, head.trainable_variables))
    return loss


for i in range(50):
    k = np.random.randint(0, 300, 32)
    loss = finetune(x[k], y[k])
print(float(loss))
