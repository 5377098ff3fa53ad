import tensorflow as tf
import keras

keras.utils.set_random_seed(222)
net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(24, activation="tanh", name="p1"),
                        keras.layers.Dense(24, activation="tanh", name="p2"), keras.layers.Dense(1, name="u")])
opt = keras.optimizers.Adam(5e-3)
ts = tf.reshape(tf.linspace(0.0, 3.0, 60), (-1, 1))


@tf.function
def train():
    with tf.GradientTape() as tape:
        with tf.GradientTape() as t1:
            t1.watch(ts)
            u = net(ts)
        du = t1.gradient(u, ts)
        res = tf.reduce_mean((du + u) ** 2)
        ic = tf.reduce_mean((net(tf.zeros((1, 1))) - 1.0) ** 2)
        loss = res + ic
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss, res


for i in range(200):
    loss, res = train()
    if i % 20 == 0 or i == 199:
        print(i, f"loss {float(loss):.3e} residual {float(res):.3e}")
