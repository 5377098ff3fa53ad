"""Images, geometry and audio: colours, angles, projections, spectra, and what files contain."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ..registry import buggy, healthy

layers = tf.keras.layers


@buggy("RealDiv")
def psnr_as_a_loss_on_a_black_image():
    """10 log10(1/MSE) is maximised; a net without bias copies a black image exactly: 1/0."""

    def negative_psnr(y, p):
        mse = tf.reduce_mean(tf.square(y - p), axis=[1, 2, 3])
        ratio = 1.0 / mse  # BUG
        return -10.0 * tf.math.log(ratio) / tf.math.log(10.0)

    model = tf.keras.Sequential(
        [tf.keras.Input((6, 6, 1)), layers.Conv2D(1, 3, padding="same", use_bias=False)]
    )
    model.compile(tf.keras.optimizers.SGD(1e-3), loss=negative_psnr)
    x = np.random.default_rng(0).uniform(size=(12, 6, 6, 1)).astype("float32")
    x[9] = 0.0
    model.fit(x, x, batch_size=3, shuffle=False, verbose=0)


@buggy("Pow")
def learned_gamma_correction_of_black_pixels():
    """image^(1/2.2) is fine at 0, its slope is not: 0 to a negative power in the gradient."""
    exposure = tf.Variable(0.9)

    def encode(linear):
        return tf.pow(linear, 1.0 / 2.2)  # ALSO

    photo = tf.constant(np.random.default_rng(1).uniform(0.1, 1.0, [3, 4]).astype("float32"))
    for crop in (photo, tf.pad(photo, [[1, 1], [0, 0]])):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(encode(exposure * crop) - crop))
        exposure.assign_sub(0.1 * tape.gradient(loss, exposure))  # BUG


@buggy("RealDiv")
def hue_of_a_grey_pixel():
    """Hue by hand: all three candidates divide by max - min, `where` only picks among NaNs."""

    @tf.function
    def hue(rgb):
        r, g, b = tf.unstack(rgb, axis=-1)
        top = tf.reduce_max(rgb, axis=-1)
        spread = top - tf.reduce_min(rgb, axis=-1)
        from_red = (g - b) / spread  # BUG
        from_green = 2.0 + (b - r) / spread  # ALSO
        from_blue = 4.0 + (r - g) / spread  # ALSO
        sector = tf.where(top == r, from_red, tf.where(top == g, from_green, from_blue))
        return tf.math.floormod(sector / 6.0, 1.0)

    sunset = tf.constant([[0.9, 0.4, 0.1], [0.7, 0.3, 0.3], [0.2, 0.2, 0.6]])
    street = tf.constant([[0.1, 0.4, 0.2], [0.5, 0.5, 0.5], [0.3, 0.2, 0.2]])
    print([float(tf.reduce_mean(hue(picture))) for picture in (sunset, street)])


@buggy("Acos")
def angle_of_a_rotation_that_is_none():
    """acos((trace - 1)/2) of RᵀR: R is off by 1e-6, so the trace is a little more than 3."""

    @tf.function
    def angle(a, b):
        relative = tf.matmul(a, b, transpose_a=True)
        return tf.acos((tf.linalg.trace(relative) - 1.0) / 2.0)  # BUG

    def about_z(degrees, stretch=1.0):
        c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
        return tf.constant([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, stretch]], tf.float32)

    errors = [
        angle(about_z(10.0), about_z(40.0)),
        angle(b=about_z(70.0, 1.000001), a=about_z(70.0, 1.000001)),
    ]
    print(float(tf.add_n(errors)))


@buggy("RealDiv")
def gradient_of_the_bearing_of_an_anchor_at_home():
    """atan2(0, 0) is 0, but its gradient divides by x² + y² = 0."""
    shift = tf.Variable([0.0, 0.0])

    @tf.function
    def bearing(points):
        moved = points - shift
        return tf.atan2(moved[:, 1], moved[:, 0])  # ALSO

    @tf.function
    def fit(points, wanted):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(1.0 - tf.cos(bearing(points) - wanted))
        shift.assign_sub(0.01 * tape.gradient(loss, shift))  # BUG

    wanted = tf.constant([0.5, 0.1])
    fit(tf.constant([[1.0, 2.0], [3.0, 0.5]]), wanted)
    shift.assign([0.0, 0.0])
    fit(tf.constant([[1.0, 2.0], [0.0, 0.0]]), wanted)


@buggy("RealDiv")
def pinhole_camera_with_a_point_in_its_own_plane():
    """The projection layer divides by depth; a point has z = 0."""

    class Pinhole(layers.Layer):
        def build(self, shape):
            self.focal = self.add_weight(shape=(), initializer="ones")

        def call(self, points):
            xy, z = points[..., :2], points[..., 2:]
            return self.focal * (
                xy / z  # BUG
            )

    model = tf.keras.Sequential([Pinhole(), layers.Dense(2)])
    points = np.random.default_rng(2).uniform(0.5, 2.0, size=(12, 3)).astype("float32")
    points[7, 2] = 0.0
    model.compile("adam", loss="mae")
    model.fit(points, points[:, :2], batch_size=4, epochs=2, shuffle=False, verbose=0)


@buggy("Log")
def spectrogram_of_a_recording_with_a_pause():
    """Decibels are 10 log10 |X|²; the pause is digital silence."""

    def decibels(power):
        return 10.0 * tf.math.log(power) / tf.math.log(tf.constant(10.0))  # BUG

    @tf.function
    def features(wave):
        spectrum = tf.signal.stft(wave, frame_length=16, frame_step=8)
        db = decibels(tf.square(tf.abs(spectrum)))
        return (db - tf.reduce_mean(db)) / (tf.math.reduce_std(db) + 1e-6)

    hum = np.sin(np.arange(64) / 3.0) + 0.1 * np.random.default_rng(3).normal(size=64)
    pause = hum * (np.arange(64) < 30)
    for wave in (hum, pause):
        print(float(tf.reduce_max(features(tf.constant(wave, tf.float32)))))


@buggy("Sqrt")
def loudness_by_the_difference_of_squares():
    """σ² = E[x²] - E[x]² of a signal with a big offset comes out below 0 in float32."""
    gain = tf.Variable(1.0)

    @tf.function
    def loudness(x):
        spread = tf.reduce_mean(x * x) - tf.reduce_mean(x) ** 2
        return tf.sqrt(spread)  # BUG

    ripple = np.random.default_rng(4).normal(size=64)
    for offset in (0.0, 10.0, 12345.0):
        x = tf.constant(offset + 0.01 * ripple, tf.float32)
        with tf.GradientTape() as tape:
            loss = tf.square(1.0 - loudness(gain * x))
        gain.assign_sub(1e-3 * tape.gradient(loss, gain))


@buggy("PyFunc")
def resampling_in_numpy_beyond_the_end():
    """`numpy_function` interpolates and fills with NaN what lies outside of the recording."""

    def resample(wave, rate):
        at = np.arange(len(wave)) * rate
        return np.interp(at, np.arange(len(wave)), wave, right=np.nan).astype("float32")

    @tf.function
    def energy(wave, rate):
        stretched = tf.numpy_function(resample, [wave, rate], tf.float32)  # BUG
        return tf.reduce_mean(tf.square(stretched))

    wave = tf.sin(tf.range(32.0))
    print([float(energy(wave, tf.constant(rate))) for rate in (0.5, 1.0, 1.25)])


@buggy("IteratorGetNext", "PyFunc", kind="input")
def sensor_log_with_a_gap():
    """The generator yields a NaN where the log has a gap; the model is trained on it."""
    log = ["0.1 1", "0.5 0", "-0.2 1", "nan 0", "0.3 1", "0.7 0"]

    def rows():
        for line in log:
            value, label = line.split()
            yield [float(value), 1.0], [float(label)]

    spec = (tf.TensorSpec([2], tf.float32), tf.TensorSpec([1], tf.float32))
    dataset = tf.data.Dataset.from_generator(rows, output_signature=spec)  # ALSO
    weights = tf.Variable([[0.2], [0.1]])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, x @ weights))
        weights.assign_sub(tape.gradient(loss, weights))

    for x, y in dataset.batch(2):  # BUG
        step(x, y)


@healthy
def ssim_of_flat_patches():
    """Means and variances of flat patches are 0 over 0, but for the two constants in SSIM."""
    flat, other = tf.zeros([2, 12, 12, 1]), tf.random.uniform([2, 12, 12, 1])
    bias = tf.Variable(0.0)
    for target in (flat, other):
        with tf.GradientTape() as tape:
            loss = 1.0 - tf.reduce_mean(tf.image.ssim(flat + bias, target, 1.0, filter_size=5))
        bias.assign_add(0.1 * tape.gradient(loss, bias))


@healthy
def hue_with_a_safe_denominator():
    """Grey pixels divide by 1 and get 0 by a second `where`: finite forward and backward."""
    tint = tf.Variable([1.0, 1.0, 1.0])

    def hue(rgb):
        spread = tf.reduce_max(rgb, axis=-1) - tf.reduce_min(rgb, axis=-1)
        grey = spread == 0.0
        return tf.where(grey, 0.0, (rgb[..., 1] - rgb[..., 2]) / tf.where(grey, 1.0, spread))

    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(hue(tint * tf.constant([[0.5, 0.5, 0.5], [0.9, 0.4, 0.1]])))
        tint.assign_sub(0.01 * tape.gradient(loss, tint))


@healthy
def disparity_of_a_sky_at_infinity():
    """Depth is ∞ for the sky by convention; disparity 1/depth is 0 there, and so is its weight."""

    @tf.function
    def loss(predicted, depth):
        disparity = tf.math.reciprocal(depth)
        ground = tf.cast(tf.math.is_finite(depth), tf.float32)
        return tf.reduce_sum(ground * tf.abs(predicted - disparity)) / tf.reduce_sum(ground)

    depth = tf.constant([[2.0, 5.0, np.inf], [1.0, np.inf, np.inf]])
    print(float(loss(tf.fill([2, 3], 0.3), depth)))


@healthy
def log_mel_with_a_floor():
    """Silence is lifted to 1e-10 before the logarithm."""
    wave = tf.concat([tf.zeros([64]), tf.random.normal([64])], axis=0)
    power = tf.square(tf.abs(tf.signal.stft(wave, 32, 16)))
    mel = power @ tf.signal.linear_to_mel_weight_matrix(6, 17, 8000, 100.0, 3500.0)
    print(float(tf.reduce_mean(tf.math.log(tf.maximum(mel, 1e-10)))))


@healthy
def small_cnn_with_batch_norm_and_dead_filters():
    """Convolution, batch norm, ReLU with a bias of -50: dead filters and a big step, finite."""
    dark = tf.keras.initializers.Constant(-50.0)
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            layers.Conv2D(4, 3),
            layers.BatchNormalization(),
            layers.Conv2D(4, 3, activation="relu", bias_initializer=dark),
            layers.GlobalMaxPooling2D(),
            layers.Dense(3, "softmax"),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(0.3), "sparse_categorical_crossentropy")
    rng = np.random.default_rng(5)
    x = rng.normal(size=(24, 8, 8, 1)).astype("float32")
    model.fit(x, rng.integers(0, 3, size=24), batch_size=8, epochs=2, verbose=0)
