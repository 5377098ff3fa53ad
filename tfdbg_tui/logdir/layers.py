"""Keras layers and models, and `tf.Module`s, as the program called them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Layer:
    """A layer in the layers that it is called in; those of which all is the same are one.

    Attributes:
        name: Its name; of a module in another one, that of the attribute that holds it.
        class_name: Name of its class.
        dtype_policy: Name of its dtype policy, such as ``mixed_float16``; "" for a module.
        compute_dtype: The type that the policy lets it compute in; "" for a module.
        outer: The layer in whose call it is called.
    """

    name: str
    class_name: str
    dtype_policy: str = ""
    compute_dtype: str = ""
    outer: Layer | None = None

    @cached_property
    def parts(self) -> tuple[Layer, ...]:
        """The layers that it is called in, outermost first, and itself."""
        return (*(self.outer.parts if self.outer else ()), self)

    @cached_property
    def path(self) -> str:
        """The names of all of `parts`, as ``classifier/encoder/wide``."""
        return "/".join(part.name for part in self.parts)

    @property
    def kind(self) -> str:
        """Its class and, if it has a policy, the type that it computes in: ``Dense, float16``."""
        return ", ".join(filter(None, (self.class_name, self.compute_dtype)))
