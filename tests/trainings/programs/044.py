import tensorflow as tf
import keras

keras.utils.set_random_seed(204)
policy = keras.Sequential([keras.Input((3,)), keras.layers.Dense(32, activation="tanh", name="torso"),
                           keras.layers.Dense(4, name="actions")])
opt = keras.optimizers.Adam(5e-3)
cost = tf.constant([[3.0, -1, 0, 2], [0, 2.0, -2, 1], [1, 0, 1.0, -3]]) * 1000.0

for it in range(150):
    s = tf.random.normal((128, 3))
    with tf.GradientTape() as tape:
        logits = policy(s)
        a = tf.squeeze(tf.random.categorical(tf.stop_gradient(logits), 1), 1)
        ret = tf.gather(-(s @ cost), a, axis=1, batch_dims=1) - 5000.0
        adv = ret - tf.reduce_mean(ret)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=logits)
        ent = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), -1))
        loss = -tf.reduce_mean(logp * adv) - 10.0 * ent
    g = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(g, policy.trainable_variables))
    if it % 15 == 0:
        print("it", it, "return", float(tf.reduce_mean(ret)), "loss", float(loss))
