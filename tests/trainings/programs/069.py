import tensorflow as tf
import keras

keras.utils.set_random_seed(220)
net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(32, activation="tanh", name="fc1"), keras.layers.Dense(1, name="fc2")])
opt = keras.optimizers.Adam(0.1)
X = tf.random.normal((64, 6))
Y = X[:, :1] ** 2 - X[:, 1:2]
K = 8
acc = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]
for micro in range(200):
    lo = (micro % K) * 8
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(X[lo:lo + 8]) - Y[lo:lo + 8]) ** 2) / K
    for a, g in zip(acc, tape.gradient(loss, net.trainable_variables)):
        a.assign_add(g)
    if (micro + 1) % K == 0:
        opt.apply_gradients(zip(acc, net.trainable_variables))
        for a in acc:
            a.assign(tf.zeros_like(a))
    if micro % 10 == 0:
        print("micro step", micro, "full loss", float(tf.reduce_mean((net(X) - Y) ** 2)))
