import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(201)
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
schedule = keras.optimizers.schedules.CosineDecay(1e-4, 50, warmup_target=0.08, warmup_steps=15)
opt = keras.optimizers.SGD(schedule, momentum=0.9)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 5.0)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


true = np.random.randn(20, 1)
for i in range(65):
    x = np.random.randn(2048, 20).astype("float32")
    loss, norm = train(x, (x @ true).astype("float32"))
    if i % 8 == 0:
        print(i, float(loss), float(norm))
