import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(217)
age = np.random.uniform(20, 60, 800).astype("float32")
income = np.random.lognormal(3, 1, 800).astype("float32")
target = (0.1 * age + np.log(income)).astype("float32")
income[22 * 16 + 9] = np.nan  # a missing entry
norm_age, norm_income = layers.Normalization(axis=None), layers.Normalization(axis=None)
norm_age.adapt(age)
norm_income.adapt(np.nan_to_num(income))
data = tf.data.Dataset.from_tensor_slices(({"age": age[:, None], "income": income[:, None]}, target)).batch(16)
a, i = keras.Input((1,), name="age"), keras.Input((1,), name="income")
x = layers.Concatenate()([norm_age(a), norm_income(i)])
x = layers.Dense(16, activation="relu", name="hidden")(x)
model = keras.Model([a, i], layers.Dense(1, name="score")(x))
model.compile(keras.optimizers.Adam(0.01), "mae")
model.fit(data, epochs=1, verbose=2)
