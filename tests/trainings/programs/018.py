import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, n_in, n_out, act=None, name=None):
        super().__init__(name=name)
        init = tf.random.normal((n_in, n_out), stddev=(1 / n_in) ** 0.5)
        self.w = tf.Variable(init, name="w")
        self.b = tf.Variable(tf.zeros(n_out), name="b")
        self.act = act or (lambda v: v)

    def __call__(self, x):
        return self.act(x @ self.w + self.b)


class PoissonNet(tf.Module):
    def __init__(self):
        super().__init__(name="poisson_net")
        self.h = Dense(5, 32, tf.nn.relu, name="h")
        self.lam = Dense(32, 1, name="lam")

    def __call__(self, x):
        return self.lam(self.h(x))


tf.random.set_seed(44)
net = PoissonNet()
X = tf.random.normal((400, 5))
rate = tf.exp(1.0 + X @ tf.constant([[0.6], [-0.5], [0.4], [0.2], [0.7]]))
Y = tf.random.poisson((), rate)
vs = net.trainable_variables
for i in range(40):
    with tf.GradientTape() as tape:
        eta = net(X)
        loss = tf.reduce_mean(tf.exp(eta) - Y * eta)
    for v, g in zip(vs, tape.gradient(loss, vs)):
        v.assign_sub(0.5 * g)
    if i % 3 == 0:
        tf.print("step", i, "nll", loss)
