import tensorflow as tf
import keras

keras.utils.set_random_seed(65)


def lr_at(step):
    if step < 20:
        return 0.02
    return 3.0 * 0.9 ** (step - 20)


class Net(tf.Module):
    def __init__(self):
        super().__init__(name="net")
        self.first = keras.layers.Dense(32, activation="tanh", name="first")
        self.mid = keras.layers.Dense(32, activation="relu", name="mid")
        self.last = keras.layers.Dense(1, name="last")

    def __call__(self, x):
        h = self.first(x)
        h = self.mid(h)
        return self.last(h)


net = Net()
x = tf.random.uniform((512, 4), -1, 1)
y = 5.0 + 3.0 * x[:, :1] ** 2 + x[:, 1:2] * x[:, 2:3]
net(x)
opt = keras.optimizers.SGD(0.02, momentum=0.9)
for step in range(80):
    opt.learning_rate = lr_at(step)
    sel = tf.random.uniform((64,), 0, 512, dtype=tf.int32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(tf.gather(x, sel)) - tf.gather(y, sel)))
    g = tape.gradient(loss, net.first.trainable_variables + net.mid.trainable_variables + net.last.trainable_variables)
    opt.apply_gradients(zip(g, net.first.trainable_variables + net.mid.trainable_variables + net.last.trainable_variables))
    if step % 5 == 0:
        print("step", step, "mae", float(loss))
