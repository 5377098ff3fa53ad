import tensorflow as tf
import keras

keras.utils.set_random_seed(86)
x = keras.Input((1,))
h = keras.layers.Dense(20, activation="sigmoid", name="pinn_in")(x)
for i in range(9):
    h = keras.layers.Dense(20, activation="sigmoid", name=f"pinn_h{i}")(h)
u = keras.layers.Dense(1, name="pinn_out")(h)
net = keras.Model(x, u)
opt = keras.optimizers.SGD(1e-2)
pts = tf.reshape(tf.linspace(0.0, 2.0, 50), (-1, 1))


@tf.function
def step():
    # u' = cos(3x), u(0) = 0
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(pts)
            uu = net(pts)
        du = inner.gradient(uu, pts)
        f = tf.reduce_mean((du - tf.cos(3.0 * pts)) ** 2)
        ic = tf.reduce_mean(net(pts[:1]) ** 2)
        loss = f + ic
    g = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(g, net.trainable_variables))
    return loss, f


for i in range(120):
    loss, f = step()
    if i % 15 == 0:
        print("iter %d loss %.6f residual %.6f" % (i, float(loss), float(f)))
