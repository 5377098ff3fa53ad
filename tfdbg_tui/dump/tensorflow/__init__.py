"""All that is used of TensorFlow beyond its public interface: no other module knows its inside."""
