"""The one door to TensorFlow: all that is used of it beyond its public interface."""
