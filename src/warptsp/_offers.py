"""What upper layers do for objects of lower ones, found by its name when it is asked for.

`Result.plot` draws and `Problem.from_frame` reads data frames, but results know nothing of pictures, nor
problems of data frames. The front of the package, which knows every layer, says where each service is.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # without the import of typing, as in the package itself
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_homes: dict[str, tuple[str, str]] = {}


def on_demand(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are imported, each from its home, when used."""

    def find_name(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return find_name


def offer(service: str, module: str, function: str) -> None:
    """Say which function of which module does a service; nothing is imported yet."""
    _homes[service] = module, function


def find(service: str) -> Callable[..., Any]:
    """Return the function that does a service."""
    module, function = _homes[service]
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
