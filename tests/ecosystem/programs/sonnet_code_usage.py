"""Sonnet: a quantised autoencoder that measures, by hand, how evenly its codes are used."""

import sonnet as snt
import tensorflow as tf

tf.random.set_seed(52)
x = tf.random.stateless_normal([64, 6], seed=(3, 3))
encoder, decoder = snt.nets.MLP([16, 4]), snt.nets.MLP([16, 6])
quantizer = snt.nets.VectorQuantizer(embedding_dim=4, num_embeddings=32, commitment_cost=0.25)
optimizer = snt.optimizers.RMSProp(1e-3)


@tf.function
def step():
    with tf.GradientTape() as tape:
        quantized = quantizer(encoder(x), is_training=True)
        loss = tf.reduce_mean(tf.square(decoder(quantized["quantize"]) - x)) + quantized["loss"]
    variables = [*encoder.trainable_variables, *decoder.trainable_variables]
    optimizer.apply(tape.gradient(loss, variables), variables)
    usage = tf.reduce_mean(tf.reshape(quantized["encodings"], [-1, 32]), axis=0)
    bits = tf.math.log(usage) / tf.math.log(2.0)  # BUG Log: some code is never used
    return loss, -tf.reduce_sum(usage * bits)


for _ in range(3):
    loss, entropy = step()
    print("result step", float(loss), float(entropy))
