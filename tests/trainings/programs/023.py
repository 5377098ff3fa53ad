import tensorflow as tf

tf.random.set_seed(102)
W = tf.Variable(tf.random.normal((6, 4)) * 0.3, name="W")
b = tf.Variable(tf.zeros(4), name="b")
vel = {"W": tf.Variable(tf.zeros_like(W), name="vel_W"), "b": tf.Variable(tf.zeros_like(b), name="vel_b")}
momentum, lr = 1.4, 0.01
X = tf.random.normal((256, 6))
Y = tf.nn.tanh(X @ tf.random.normal((6, 4)))


@tf.function
def update():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(X @ W + b - Y))
    gW, gb = tape.gradient(loss, [W, b])
    vel["W"].assign(momentum * vel["W"] + gW)
    vel["b"].assign(momentum * vel["b"] + gb)
    W.assign_sub(lr * vel["W"])
    b.assign_sub(lr * vel["b"])
    return loss


for i in range(200):
    l = update()
    if i % 10 == 0:
        print(i, float(l))
