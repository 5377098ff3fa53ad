import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(148)
n = 120
adjacency = (np.random.rand(n, n) < 0.3).astype("float32")
features = np.random.randn(n, 16).astype("float32")
labels = np.random.randint(0, 3, n)
convs = [keras.layers.Dense(16, activation="relu", name=f"conv{i}") for i in range(3)]
head = keras.layers.Dense(3, name="classes")
opt = keras.optimizers.SGD(0.01)


def forward():
    h = features
    for conv in convs:
        h = conv(tf.matmul(adjacency, h))
    return head(h)


forward()


@tf.function
def step():
    v = [w for layer in (*convs, head) for w in layer.trainable_variables]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, forward()))
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for epoch in range(40):
    print(epoch, float(step()))
