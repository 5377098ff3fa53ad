import tensorflow as tf

tf.random.set_seed(104)
F = tf.float16
proj = tf.Variable(tf.cast(tf.random.normal((20, 1)) * 0.1, F), name="proj")
bias = tf.Variable(tf.zeros((1,), F), name="bias")
slots = {v.name: (tf.Variable(tf.zeros_like(v), name="m_" + v.name[:-2]),
                  tf.Variable(tf.zeros_like(v), name="v_" + v.name[:-2])) for v in (proj, bias)}
b1, b2, eps, lr = 0.9, 0.95, 1e-4, 0.02


def adam(var, g):
    m, v = slots[var.name]
    m.assign(tf.cast(b1, F) * m + tf.cast(1 - b1, F) * g)
    v.assign(tf.cast(b2, F) * v + tf.cast(1 - b2, F) * g * g)
    var.assign_sub(tf.cast(lr, F) * m / (tf.sqrt(v) + tf.cast(eps, F)))


truth = tf.random.normal((20, 1))
for step in range(80):
    x = tf.random.normal((32, 20)) * 12.0
    y = x @ truth
    with tf.GradientTape() as tape:
        out = tf.matmul(tf.cast(x, F), proj) + bias
        loss = tf.reduce_mean((tf.cast(out, tf.float32) - y) ** 2)
    for v, g in zip((proj, bias), tape.gradient(loss, (proj, bias))):
        adam(v, g)
    if step % 8 == 0:
        print("step", step, "loss", float(loss))
