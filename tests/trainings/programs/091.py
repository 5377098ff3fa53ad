import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(227)
net = keras.Sequential([keras.Input((7,)), keras.layers.Dense(40, activation="silu", name="in"),
                        keras.layers.Dense(3, name="out")], name="live")
ema = keras.models.clone_model(net)
ema.set_weights(net.get_weights())
opt = keras.optimizers.AdamW(5e-3, weight_decay=1e-3)
proto = np.random.randn(3, 7) * 1.5
for it in range(150):
    lab = np.random.randint(0, 3, 48)
    x = (proto[lab] + np.random.randn(48, 7)).astype("float32")
    with tf.GradientTape() as tape:
        ll = tf.nn.log_softmax(net(x))
        loss = -tf.reduce_mean(tf.gather(ll, lab, axis=1, batch_dims=1))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    for e, w in zip(ema.variables, net.variables):
        e.assign(0.98 * e + 0.02 * w)
    if it % 15 == 0:
        acc = (ema(x).numpy().argmax(1) == lab).mean()
        print("it", it, "loss", float(loss), "ema acc", acc)
