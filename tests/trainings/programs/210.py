import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(210)
model = keras.Sequential(
    [keras.Input((60, 3)), keras.layers.LSTM(24, unit_forget_bias=True, return_sequences=True), keras.layers.LSTM(16), keras.layers.Dense(1)]
)
opt = keras.optimizers.RMSprop(3e-3)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 0.5)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


for i in range(30):
    x = np.cumsum(np.random.randn(32, 60, 3), 1).astype("float32")
    y = x[:, -1, :1] - x[:, 0, :1]
    loss, norm = train(x, y)
    if i % 5 == 0:
        print(i, float(loss), float(norm))
