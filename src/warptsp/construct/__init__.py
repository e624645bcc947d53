"""Start tours: one construction a module, and `construct`, which any instance may be given to."""

from .construction import Construction
from .constructions import CONSTRUCTIONS, construct

__all__ = ["CONSTRUCTIONS", "Construction", "construct"]
