"""TensorFlow Lite: a Keras model and a function, converted and run by the interpreter."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(106)
x = np.random.normal(size=(4, 6)).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(2)])
print("result keras", model.predict(x, verbose=0).ravel().tolist())


def run(content, values):
    interpreter = tf.lite.Interpreter(model_content=content)
    index = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(index, values.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(index, values)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


class Scaler(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 6])])
    def __call__(self, values):
        return tf.nn.softmax(values * 2.0)


scaler = Scaler()
print("result function", scaler(x).numpy().ravel().tolist())
converter = tf.lite.TFLiteConverter.from_concrete_functions(
    [scaler.__call__.get_concrete_function()], scaler
)
print("result lite", run(converter.convert(), x).ravel().tolist())
converter = tf.lite.TFLiteConverter.from_keras_model(model)
print("result converted", run(converter.convert(), x).ravel().tolist())
