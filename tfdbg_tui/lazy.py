"""Names of a package that are imported when they are first used.

So `import tfdbg_tui` imports neither TensorFlow nor NumPy, and no name costs what others need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def lazily(package: str, names: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``.

    Args:
        package: Name of the package.
        names: The public names, by the module that has them. A module that is public itself is
            named by the last part of its own name.
    """
    homes = {name: home for home, inside in names.items() for name in inside}

    def resolve(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(homes[name])
        return module if homes[name].endswith(f".{name}") else getattr(module, name)

    return resolve
