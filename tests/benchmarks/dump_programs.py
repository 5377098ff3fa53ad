"""The programs that `bench_dump.py` measures: of TensorFlow and Keras alone.

Each is a function that returns one step of the program.  Its argument says whether the step is to
be bad: then its data, and so all that is computed from them, are NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

EAGER_OPS = 200


class Program(NamedTuple):
    """A program to measure.

    Attributes:
        make: Returns a step.
        steps: How many make a block.
        can_be_bad: Whether there is a bad variant.
        package: The PyPI package that it needs besides TensorFlow.
    """

    make: Callable[[bool], Callable[[], object]]
    steps: int
    can_be_bad: bool = True
    package: str = ""


def normal(shape: list[int], bad: bool, dtype: str = "float32") -> Any:
    """Return random numbers, or NaN in their place."""
    import tensorflow as tf

    numbers = tf.random.normal(shape, dtype=dtype)
    return tf.fill(shape, tf.constant(float("nan"), dtype)) if bad else numbers


# ---- TensorFlow ----------------------------------------------------------------------------------


def mnist(bad: bool) -> Callable[[], object]:
    """Two dense layers, three small functions, tape and Adam outside: mostly eager.

    It is TensorFlow's tutorial of the debugger; the bad one, as it stands there, takes the
    logarithm of zeros in the first step, so that all is NaN after it.
    """
    import tensorflow as tf

    tf.keras.utils.set_random_seed(1)
    x = tf.random.normal([100, 784])
    y = tf.one_hot(tf.random.uniform([100], 0, 10, tf.int32), 10)
    stddev = 1.0 if bad else 0.03
    weights = [
        tf.Variable(tf.random.truncated_normal([784, 500], stddev=stddev)),
        tf.Variable(tf.zeros([500])),
        tf.Variable(tf.random.truncated_normal([500, 10], stddev=stddev)),
        tf.Variable(tf.zeros([10])),
    ]

    @tf.function
    def dense(w: Any, b: Any, inputs: Any, activation: Any) -> Any:
        return activation(tf.matmul(inputs, w) + b)

    @tf.function
    def model(inputs: Any) -> Any:
        hidden = dense(weights[0], weights[1], inputs, tf.nn.relu)
        return tf.nn.softmax(dense(weights[2], weights[3], hidden, tf.identity))

    @tf.function
    def loss(probs: Any, labels: Any) -> Any:
        probs = probs if bad else tf.clip_by_value(probs, 1e-6, 1.0)
        return tf.reduce_mean(-labels * tf.math.log(probs))

    optimizer = tf.keras.optimizers.Adam(1e-4)

    def step() -> object:
        with tf.GradientTape() as tape:
            value = loss(model(x), y)
        gradients = tape.gradient(value, weights)
        optimizer.apply_gradients(zip(gradients, weights, strict=True))
        return value.numpy()

    return step


def eager(bad: bool, dtype: str = "float32") -> Callable[[], object]:
    """A chain of small eager ops, 30 frames deep."""
    x = normal([100], bad, dtype) * 0.01

    def deep(frames: int) -> object:
        if frames:
            return deep(frames - 1)
        y = x
        for _ in range(EAGER_OPS):
            y = y + x
        return y.numpy()

    return lambda: deep(30)


def small_calls(bad: bool) -> Callable[[], object]:
    """100 calls of a function of three small ops."""
    import tensorflow as tf

    x = normal([16], bad)
    call = tf.function(lambda x: tf.sin(x) * 1.01 + 0.1)
    return lambda: [call(x) for _ in range(100)]


def loop(bad: bool) -> Callable[[], object]:
    """500 iterations of a loop of three small ops."""
    import tensorflow as tf

    @tf.function
    def iterate(x: Any) -> Any:
        for _ in tf.range(500):
            x = tf.sin(x) * 1.01 + 0.1
        return x

    x = normal([16], bad)
    return lambda: iterate(x).numpy()


def data(bad: bool) -> Callable[[], object]:
    """2,000 elements of a `tf.data` map of three small ops."""
    import tensorflow as tf

    scale = float("nan") if bad else 2.0

    def pipeline() -> object:
        numbers = tf.data.Dataset.range(2000)
        return list(numbers.map(lambda i: tf.cast(i, tf.float32) * scale + 1.0).batch(2000))

    return pipeline


def pinn(bad: bool) -> Callable[[], object]:
    """A training step of a physics-informed network: second derivatives by nested tapes."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(width, "tanh") for width in (20, 20)]
    net = keras.Sequential([keras.layers.Input((1,)), *layers, keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(net.trainable_variables)
    x = normal([64, 1], bad)

    @tf.function
    def train() -> Any:
        with tf.GradientTape() as tape:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    u = net(x)
                first = inner.gradient(u, x)
            loss = tf.reduce_mean((outer.gradient(first, x) + tf.sin(x)) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply(gradients, net.trainable_variables)
        return loss

    return lambda: train().numpy()


def many_ops(bad: bool) -> Callable[[], object]:
    """A function of 5,000 small ops."""
    import tensorflow as tf

    @tf.function
    def long(x: Any) -> Any:
        for _ in range(1250):
            x = tf.nn.elu(tf.sin(x) * 1.01 + 0.1)
        return x

    x = normal([16], bad)
    return lambda: long(x).numpy()


def retraces(_: bool) -> Callable[[], object]:
    """A function of 50 ops that is traced 10 times."""
    import tensorflow as tf

    def step() -> None:
        @tf.function
        def traced(x: Any, number: int) -> Any:
            for _ in range(10):
                x = tf.sin(x) * float(number) + 0.1
            return tf.reduce_sum(x)

        for number in range(10):
            traced(tf.ones([16]), number)

    return step


# ---- Keras ---------------------------------------------------------------------------------------


def fit_step(
    model: Any, x: Any, y: Any, optimizer: Any = "adam", **options: Any
) -> Callable[[], object]:
    """Return one call of the function that `fit` calls for each batch, here always the same."""
    import tensorflow as tf

    model.compile(optimizer, **{"loss": "mse", "jit_compile": False, **options})
    model.make_train_function()
    iterator = iter(tf.data.Dataset.from_tensors((x, y)).repeat())
    return lambda: {name: float(value) for name, value in model.train_function(iterator).items()}


def arrays(bad: bool) -> Callable[[], object]:
    """Keras' whole `fit` on arrays: an epoch of 469 batches of 60,000 images, two dense layers."""
    import keras

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((784,)), layers.Dense(128, "relu"), layers.Dense(10, "softmax")]
    )
    loss, metrics = "sparse_categorical_crossentropy", ["accuracy"]
    model.compile("adam", loss, metrics=metrics, jit_compile=False)
    x, y = normal([60_000, 784], bad).numpy(), np.arange(60_000) % 10
    return lambda: model.fit(x, y, batch_size=128, verbose=0)


def sequential(shape: tuple[int, ...], *layers: Any) -> Any:
    """Return a model of layers and one dense unit on top."""
    import keras

    keras.utils.set_random_seed(1)
    return keras.Sequential([keras.layers.Input(shape), *layers, keras.layers.Dense(1)])


def cnn(bad: bool, jit: bool = False) -> Callable[[], object]:
    """A small convolutional network, batch 64."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = normal([64, 28, 28, 1], bad), tf.random.uniform([64], 0, 10, tf.int32)
    return fit_step(model, x, y, loss=loss, metrics=["accuracy"], jit_compile=jit)


def transformer(bad: bool, jit: bool = False) -> Callable[[], object]:
    """A training step of a two-layer Transformer, width 256, batch 16, length 128, as one graph."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    layers = keras.layers
    tokens = layers.Input((128,), dtype="int32")
    hidden = layers.Embedding(1000, 256)(tokens)
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 64)(hidden, hidden)
        hidden = layers.LayerNormalization()(hidden + attended)
        wide = layers.Dense(1024, activation="gelu")(hidden)
        hidden = layers.LayerNormalization()(hidden + layers.Dense(256)(wide))
    model = keras.Model(tokens, layers.Dense(1000)(hidden))
    if bad:
        embedding = model.trainable_variables[0]
        embedding.assign(tf.fill(embedding.shape, float("nan")))
    optimizer = keras.optimizers.Adam(1e-4)
    optimizer.build(model.trainable_variables)
    x = tf.random.uniform([16, 128], 0, 1000, tf.int32)

    @tf.function(jit_compile=jit)
    def train(x: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x, logits=logits)
            value = tf.reduce_mean(losses)
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return value

    return lambda: train(x).numpy()


def mobilenet(bad: bool) -> Callable[[], object]:
    """MobileNetV2, batch 8 of 96 × 96."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(1)
    model = keras.applications.MobileNetV2(weights=None, input_shape=(96, 96, 3), classes=10)
    x, y = normal([8, 96, 96, 3], bad), tf.zeros([8], tf.int32)
    return fit_step(model, x, y, loss="sparse_categorical_crossentropy")


def lstm(bad: bool) -> Callable[[], object]:
    """An LSTM over 20 time steps, which is a loop."""
    import keras

    model = sequential((20, 16), keras.layers.LSTM(32))
    return fit_step(model, normal([32, 20, 16], bad), normal([32, 1], bad=False))


def recurrent(bad: bool) -> Callable[[], object]:
    """A convolutional, a bidirectional LSTM and a GRU, each over 8 time steps."""
    import keras

    layers = keras.layers
    model = sequential(
        (8, 8, 8, 1),
        layers.ConvLSTM2D(4, 3, return_sequences=True),
        layers.Reshape((8, -1)),
        layers.Bidirectional(layers.LSTM(16, return_sequences=True)),
        layers.GRU(16),
    )
    return fit_step(model, normal([16, 8, 8, 8, 1], bad), normal([16, 1], bad=False))


def steps_per_execution(bad: bool) -> Callable[[], object]:
    """Ten training steps in one call."""
    import keras

    model = sequential((16,), keras.layers.Dense(64, "relu"))
    x, y = normal([32, 16], bad), normal([32, 1], bad=False)
    return fit_step(model, x, y, steps_per_execution=10)


def accumulation(bad: bool) -> Callable[[], object]:
    """Ten steps in one call, gradients of four accumulated, data of interleaved sources."""
    import keras
    import tensorflow as tf

    model = sequential((16,), keras.layers.Dense(64, "relu"))
    optimizer = keras.optimizers.Adam(gradient_accumulation_steps=4)
    model.compile(optimizer, "mse", jit_compile=False, steps_per_execution=10)
    x = normal([16], bad)

    def source(number: Any) -> Any:
        row = x * tf.cast(number, tf.float32)
        return tf.data.Dataset.from_tensors((row, tf.reduce_sum(row, keepdims=True))).repeat()

    model.make_train_function()
    rows = tf.data.Dataset.range(4).interleave(source, cycle_length=4)
    iterator = iter(rows.map(lambda x, y: (tf.tanh(x), y)).batch(32))
    return lambda: float(model.train_function(iterator)["loss"])


def mixed(bad: bool, policy: str) -> Callable[[], object]:
    """A dense network in 16 bits; in float16 with a loss scale."""
    import keras

    keras.mixed_precision.set_global_policy(policy)
    model = sequential((16,), keras.layers.Dense(64, "relu"))
    optimizer = keras.optimizers.Adam()
    if policy == "mixed_float16":
        optimizer = keras.mixed_precision.LossScaleOptimizer(optimizer)
    return fit_step(model, normal([32, 16], bad), normal([32, 1], bad=False), optimizer)


PROGRAMS = {
    "mnist": Program(mnist, 25),
    "arrays": Program(arrays, 1),
    "cnn": Program(cnn, 40),
    "transformer": Program(transformer, 6),
    "cnn_jit": Program(lambda bad: cnn(bad, jit=True), 40),
    "transformer_jit": Program(lambda bad: transformer(bad, jit=True), 6),
    "mobilenet": Program(mobilenet, 6),
    "eager": Program(eager, 25),
    "eager_bfloat16": Program(lambda bad: eager(bad, "bfloat16"), 25),
    "small_calls": Program(small_calls, 10),
    "loop": Program(loop, 20),
    "data": Program(data, 5),
    "lstm": Program(lstm, 20),
    "recurrent": Program(recurrent, 10),
    "steps_per_execution": Program(steps_per_execution, 20),
    "accumulation": Program(accumulation, 20),
    "loss_scale": Program(lambda bad: mixed(bad, "mixed_float16"), 100),
    "bfloat16": Program(lambda bad: mixed(bad, "mixed_bfloat16"), 100),
    "pinn": Program(pinn, 100),
    "many_ops": Program(many_ops, 20),
    "retraces": Program(retraces, 1, can_be_bad=False),
}
