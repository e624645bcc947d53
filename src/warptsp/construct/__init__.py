"""Start tours: one construction a module, and `construct`, which any instance may be given to."""

from warptsp.construct.construction import Construction
from warptsp.construct.constructions import CONSTRUCTIONS, construct

__all__ = ["CONSTRUCTIONS", "Construction", "construct"]
