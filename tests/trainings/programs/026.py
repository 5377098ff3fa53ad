import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(224)
V, D = 200, 16
centre = keras.layers.Embedding(V, D, name="centre")
context = keras.layers.Embedding(V, D, embeddings_initializer="zeros", name="context")
centre.build(None), context.build(None)
opt = keras.optimizers.SGD(20.0)
tv = centre.trainable_variables + context.trainable_variables
for step in range(200):
    c = np.random.randint(0, V, 64)
    pos = (c // 10) * 10 + np.random.randint(0, 10, 64)
    neg = np.random.randint(0, V, (64, 4))
    with tf.GradientTape() as tape:
        e = centre(c)
        sp = tf.reduce_sum(e * context(pos), 1)
        sn = tf.reduce_sum(e[:, None] * context(neg), 2)
        loss = -tf.reduce_mean(tf.math.log_sigmoid(sp) + tf.reduce_sum(tf.math.log_sigmoid(-sn), 1))
    opt.apply_gradients(zip(tape.gradient(loss, tv), tv))
    if step % 20 == 0:
        print("step", step, "sgns loss", round(float(loss), 4))
