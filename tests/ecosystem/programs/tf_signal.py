"""tf.signal: spectrograms and their inverse; the features of speech that has a silent part."""

import numpy as np
import tensorflow as tf

time = np.arange(4096) / 8000.0
wave = np.sin(2 * np.pi * 440.0 * time).astype("float32")
wave[2048:] = 0.0
spectrum = tf.signal.stft(wave, frame_length=256, frame_step=128)
back = tf.signal.inverse_stft(spectrum, 256, 128, window_fn=tf.signal.inverse_stft_window_fn(128))
print("result back", back.numpy()[1000:1004].tolist())


@tf.function
def features(signal):
    frames = tf.abs(tf.signal.stft(signal, frame_length=256, frame_step=128))
    bank = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000, 80.0, 3600.0)
    mel = tf.tensordot(frames, bank, 1)
    loudness = tf.math.log(mel)  # BUG Log: a silent frame has no energy
    return tf.signal.mfccs_from_log_mel_spectrograms(loudness)[..., :13]


print("result features", features(tf.constant(wave)).numpy()[3].tolist())
print("result mean", tf.reduce_mean(features(tf.constant(wave)), axis=0).numpy().tolist())
