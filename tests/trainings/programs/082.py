import tensorflow as tf

tf.random.set_seed(15)
centers = tf.constant([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
lab = tf.random.uniform((300,), 0, 3, dtype=tf.int32)
pts = tf.gather(centers, lab) + 0.4 * tf.random.normal((300, 2))

W1 = tf.Variable(tf.random.normal((2, 24)) * 0.5, name="W1")
B1 = tf.Variable(tf.zeros(24), name="B1")
W2 = tf.Variable(tf.random.normal((24, 3)) * 0.2, name="W2")
B2 = tf.Variable(tf.zeros(3), name="B2")
params = [W1, B1, W2, B2]


@tf.function
def loss_fn():
    h = tf.nn.tanh(pts @ W1 + B1)
    logits = h @ W2 + B2
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=lab, logits=logits))


rate = 0.1
for epoch in range(100):
    with tf.GradientTape() as tape:
        loss = loss_fn()
    for p, g in zip(params, tape.gradient(loss, params)):
        p.assign_add(rate * g)
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", float(loss))
