import tensorflow as tf

tf.random.set_seed(246)
w1, b1 = tf.Variable(tf.random.normal([4, 64], stddev=0.5)), tf.Variable(tf.zeros([64]))
w2 = tf.Variable(tf.random.normal([64, 1], stddev=0.1))
extra = tf.Variable(tf.random.normal([4, 64], stddev=0.5))


@tf.function
def step(x, y, difficulty):
    with tf.GradientTape() as tape:
        easy = tf.nn.relu(x @ w1 + b1)
        hard = tf.nn.relu(x @ extra - 50.0 * (1.0 - difficulty))
        loss = tf.reduce_mean(tf.square((easy + hard) @ w2 - y))
    variables = [w1, b1, w2, extra]
    for v, g in zip(variables, tape.gradient(loss, variables)):
        v.assign_sub(0.02 * g)
    return loss


for i in range(140):
    x = tf.random.normal([32, 4])
    loss = step(x, x[:, :1] * x[:, 1:2], tf.constant(min(1.0, i / 60)))
print(float(loss))
