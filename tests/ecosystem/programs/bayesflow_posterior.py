"""BayesFlow: amortised inference of a mean and a scale with a small coupling flow."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import bayesflow as bf
import keras
import numpy as np

keras.utils.set_random_seed(70)
rng = np.random.default_rng(70)


def prior():
    return {"mean": rng.normal(), "log_scale": 0.3 * rng.normal()}


def observe(mean, log_scale):
    return {"x": rng.normal(mean, np.exp(log_scale), size=(10, 1))}


simulator = bf.make_simulator([prior, observe])
adapter = (
    bf.Adapter()
    .convert_dtype("float64", "float32")
    .as_set(["x"])
    .concatenate(["mean", "log_scale"], into="inference_variables")
    .rename("x", "summary_variables")
)
workflow = bf.BasicWorkflow(
    simulator=simulator,
    adapter=adapter,
    inference_network=bf.networks.CouplingFlow(depth=2, subnet_kwargs={"widths": (16, 16)}),
    summary_network=bf.networks.DeepSet(summary_dim=4, depth=1),
)
history = workflow.fit_offline(simulator.sample(128), epochs=2, batch_size=32, verbose=0)
print("result loss", [float(value) for value in history.history["loss"]])
samples = workflow.sample(conditions={"x": np.zeros((1, 10, 1))}, num_samples=5)
print("result samples", np.array(samples["mean"]).ravel().tolist())
