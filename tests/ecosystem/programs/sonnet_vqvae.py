"""Sonnet: a vector-quantised autoencoder with exponential moving averages."""

import sonnet as snt
import tensorflow as tf

tf.random.set_seed(51)
images = tf.random.stateless_uniform([16, 8, 8, 1], seed=(2, 2))
encoder = snt.Sequential(
    [snt.Conv2D(8, 4, stride=2), tf.nn.relu, snt.Conv2D(8, 3), tf.nn.relu, snt.Conv2D(4, 1)]
)
decoder = snt.Sequential([snt.Conv2D(8, 3), tf.nn.relu, snt.Conv2DTranspose(1, 4, stride=2)])
quantizer = snt.nets.VectorQuantizerEMA(
    embedding_dim=4, num_embeddings=12, commitment_cost=0.25, decay=0.9
)
optimizer = snt.optimizers.Adam(3e-3)


@tf.function
def step():
    with tf.GradientTape() as tape:
        quantized = quantizer(encoder(images), is_training=True)
        error = tf.reduce_mean(tf.square(decoder(quantized["quantize"]) - images))
        loss = error + quantized["loss"]
    variables = [*encoder.trainable_variables, *decoder.trainable_variables]
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss, quantized["perplexity"]


for _ in range(8):
    loss, perplexity = step()
    print("result step", float(loss), float(perplexity))
