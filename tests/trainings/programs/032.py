import tensorflow as tf

tf.random.set_seed(21)


class MLP(tf.Module):
    def __init__(self, sizes, name=None):
        super().__init__(name=name)
        self.ws, self.bs = [], []
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
            self.ws.append(tf.Variable(tf.random.normal((a, b)) / a ** 0.5, name=f"w{i}"))
            self.bs.append(tf.Variable(tf.zeros(b), name=f"b{i}"))

    def __call__(self, x):
        for w, b in zip(self.ws[:-1], self.bs[:-1]):
            x = tf.nn.relu(x @ w + b)
        return x @ self.ws[-1] + self.bs[-1]


net = MLP([10, 64, 64, 1], name="mlp")
coef = tf.random.normal((10, 1))


@tf.function
def train_step(x, y, lr):
    with tf.GradientTape() as tape:
        err = net(x) - y
        loss = tf.reduce_sum(err * err)
    for v, g in zip(net.trainable_variables, tape.gradient(loss, net.trainable_variables)):
        v.assign_sub(lr * g)
    return loss


for it in range(50):
    xb = tf.random.normal((256, 10))
    yb = tf.sin(xb @ coef)
    loss = train_step(xb, yb, 0.05)
    if it % 5 == 0:
        tf.print("iter", it, "loss", loss)
