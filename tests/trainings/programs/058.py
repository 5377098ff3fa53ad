import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(242)
X = np.random.randn(400, 6).astype("float32")
y = (np.sin(3 * X[:, :1]) + X[:, 1:2]).astype("float32")
net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(48, activation="relu", name="m1"),
                        keras.layers.Dense(48, activation="relu", name="m2"), keras.layers.Dense(1, name="m3")])
sched = keras.optimizers.schedules.CosineDecayRestarts(0.02, 50, t_mul=1.0, m_mul=0.9)
opt = keras.optimizers.Adam(sched)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        l = tf.reduce_mean((net(a) - b) ** 2)
    opt.apply_gradients(zip(tape.gradient(l, net.trainable_variables), net.trainable_variables))
    return l


for i in range(200):
    k = np.random.randint(0, 400, 64)
    l = step(X[k], y[k])
    if i % 10 == 0:
        print("step", i, "lr %.5f" % float(sched(i)), "loss %.4f" % float(l))
