"""Start tours: one construction a module, and `construct`, which any instance may be given to."""

from .constructions import CONSTRUCTIONS, Construction, construct

__all__ = ["CONSTRUCTIONS", "Construction", "construct"]
