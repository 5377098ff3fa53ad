"""Diffusion, vector quantisation, energy-based models and adversaries."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy


@buggy("RealDiv")
def signal_to_noise_at_time_zero():
    """A table of signal / noise is made once; its first entry is ∞, and step 3 draws it."""
    times = tf.linspace(0.0, 1.0, 11)
    signal = tf.cos(times * np.pi / 2) ** 2
    ratio = signal / (1.0 - signal)  # BUG
    x = tf.random.normal([4, 3])
    w = tf.Variable(tf.random.normal([3, 3]) * 0.1)

    @tf.function
    def train_step(t):
        kept = tf.gather(signal, t)[:, None]
        noise = tf.random.normal([4, 3], seed=1)
        noisy = tf.sqrt(kept) * x + tf.sqrt(1.0 - kept) * noise
        with tf.GradientTape() as tape:
            weight = tf.minimum(tf.gather(ratio, t), 5.0) / tf.gather(ratio, t)
            losses = tf.reduce_mean((noisy @ w - noise) ** 2, axis=1)
            loss = tf.reduce_mean(losses * weight * tf.gather(ratio, t))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    for t in ([3, 5, 9, 2], [7, 1, 4, 4], [2, 8, 0, 6]):
        train_step(tf.constant(t))


@buggy("Log")
def perplexity_of_a_codebook():
    """A code that nothing is assigned to has a share of 0, and 0 · log(0) is NaN."""
    x = tf.random.normal([20, 2])
    codes = tf.Variable([[0.5, 0.5], [-0.5, -0.5], [30.0, 30.0]])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            distances = tf.reduce_sum((x[:, None] - codes) ** 2, axis=2)
            chosen = tf.argmin(distances, axis=1)
            quantised = tf.gather(codes, chosen)
            shares = tf.reduce_mean(tf.one_hot(chosen, 3), axis=0)
            perplexity = tf.exp(-tf.reduce_sum(shares * tf.math.log(shares)))  # BUG
            loss = tf.reduce_mean((tf.stop_gradient(x) - quantised) ** 2)
        codes.assign_sub(tape.gradient(loss, codes))
        return loss, perplexity

    for _ in range(2):
        train_step()


@buggy("Pow")
def langevin_sampling_diverges():
    """Steps of 0.5 down a quartic energy jump over the well, further in each iteration; eager."""
    x = tf.random.normal([5, 2]) * 2.0
    for _ in range(8):
        with tf.GradientTape() as tape:
            tape.watch(x)
            energy = tf.reduce_sum(0.25 * x**4 - 0.5 * x**2)  # BUG
        slope = tape.gradient(energy, x)  # ALSO
        x = x - 0.5 * slope + tf.sqrt(0.02) * tf.random.normal([5, 2])


@buggy("Log")
def optimal_discriminator_in_fit():
    """The generator is scored with log(D / (1 - D)); D of a far-off fake rounds to 0."""

    class Adversaries(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.generator = tf.keras.layers.Dense(2)
            self.judge = tf.keras.layers.Dense(1, "sigmoid")
            self.generator.build((None, 2))
            self.judge.build((None, 2))
            self.judge_rate = 20.0

        def train_step(self, real):
            noise = tf.random.normal(tf.shape(real)) * 5.0
            with tf.GradientTape(persistent=True) as tape:
                fake = self.generator(noise)
                on_real, on_fake = self.judge(real), self.judge(fake)
                judge_loss = tf.reduce_mean((1.0 - on_real) ** 2 + on_fake**2)
                odds = on_fake / (1.0 - on_fake + 1e-7)
                generator_loss = -tf.reduce_mean(tf.math.log(odds))  # BUG
            for layer, loss, rate in (
                (self.generator, generator_loss, 0.1),
                (self.judge, judge_loss, self.judge_rate),
            ):
                gradient = tape.gradient(loss, layer.kernel)
                layer.kernel.assign_sub(rate * gradient)
            return {"judge": judge_loss, "generator": generator_loss}

    real = np.random.default_rng(0).normal(40.0, 1.0, size=(24, 2)).astype("float32")
    model = Adversaries()
    model.compile(jit_compile=False)
    model.fit(real, batch_size=4, epochs=3, verbose=0)


@healthy
def adversaries_with_logits():
    """Both losses come from logits, which become extreme without harm."""
    generator, judge = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
    generator.build((None, 2))
    judge.build((None, 2))
    entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_step(real):
        with tf.GradientTape(persistent=True) as tape:
            on_fake = judge(generator(tf.random.normal([8, 2])))
            on_real = judge(real)
            judge_loss = entropy(tf.ones([8, 1]), on_real) + entropy(tf.zeros([8, 1]), on_fake)
            generator_loss = entropy(tf.ones([8, 1]), on_fake)
        for layer, loss in ((judge, judge_loss), (generator, generator_loss)):
            layer.kernel.assign_sub(10.0 * tape.gradient(loss, layer.kernel))
        return judge_loss + generator_loss

    for step in range(4):
        loss = train_step(tf.random.normal([8, 2], seed=step) * 100.0)
    assert np.isfinite(loss)
